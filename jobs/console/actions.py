"""What people do to many jobs at once: first a preview, then the work in bounded pieces."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import Error
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from jobs import queue
from jobs.console import audit, counting, sentences
from jobs.console.counting import MANY, Number
from jobs.db import clock, faults, sessions
from jobs.models import ENDED, Job, Status
from jobs.paid import limits
from jobs.paid.batches.strategy import takes_batches
from jobs.paid.waiting import Reason

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

Jobs = QuerySet[Any]
Move = Callable[[Jobs, object], list[Any]]

SECONDS = 5.0  # of work per call, unless its caller says less
NOT_SUCCEEDED = (Status.FAILED, Status.CANCELED)


@dataclass(frozen=True)
class Action:
    """An action on jobs in one of the states `origins`; jobs in other states are left alone."""

    name: str
    title: "StrPromise"
    done: "StrPromise"
    logged: str
    origins: tuple[Status, ...]
    move: Move
    permission: str = "change"
    flag: int = audit.CHANGE
    pays: bool = False
    for_one: "StrPromise | None" = None  # the title on the button of a single job, if it differs
    told_of: Callable[[Any], str] | None = None  # for the audit of one job, instead of `logged`
    skipped: Callable[[Jobs], Jobs] | None = None  # jobs in `origins` that it leaves alone
    carried: tuple[tuple[str, str], ...] = ()  # fields that its forms repeat

    @property
    def button(self) -> "StrPromise":
        return self.for_one or self.title

    def left_alone(self, jobs: Jobs) -> list[tuple[str, Number]]:
        """What it skips of the jobs in its origins, and why."""
        number = counting.count(self.skipped(jobs)) if self.skipped else Number(0)
        return [(str(Reason.BATCH.label), number)] if number else []

    @property
    def moment(self) -> str:
        """The column with the time since which this action could apply to a job."""
        return "finished_at" if set(self.origins) <= set(ENDED) else "created_at"


def _requeue(origins: tuple[Status, ...], *, first: bool = False) -> Move:
    def move(jobs: Jobs, by: object) -> list[Any]:
        return queue.requeue(jobs, by, origins=origins, first=first, most=queue.CHUNK)

    return move


def _cancel(jobs: Jobs, by: object) -> list[Any]:
    return queue.cancel(jobs, sentences.CANCELED % by, by, most=queue.CHUNK)


def _delete(jobs: Jobs, by: object) -> list[Any]:
    rows = list(jobs.filter(status__in=ENDED).order_by("id").select_for_update()[: queue.CHUNK])
    jobs.model.objects.with_ids([row.id for row in rows]).delete()
    return rows


ACTIONS = {
    action.name: action
    for action in (
        Action(
            "requeue",
            _("Requeue"),
            _("Jobs queued again: %s."),
            gettext_noop("Requeued."),
            NOT_SUCCEEDED,
            _requeue(NOT_SUCCEEDED),
            pays=True,
        ),
        Action(
            "requeue_first",
            _("Requeue first in line"),
            _("Jobs queued again, first in line: %s."),
            gettext_noop("Requeued first in line."),
            NOT_SUCCEEDED,
            _requeue(NOT_SUCCEEDED, first=True),
            pays=True,
        ),
        Action(
            "rerun",
            _("Run succeeded jobs again"),
            _("Succeeded jobs queued again: %s."),
            gettext_noop("Run again although it had succeeded."),
            (Status.SUCCEEDED,),
            _requeue((Status.SUCCEEDED,)),
            pays=True,
            for_one=_("Run again although it succeeded"),
        ),
        Action(
            "cancel",
            _("Cancel"),
            _("Jobs canceled: %s."),
            gettext_noop("Canceled."),
            (Status.QUEUED, Status.PROCESSING),
            _cancel,
        ),
        Action(
            "remove",
            _("Delete ended jobs"),
            _("Jobs deleted: %s."),
            gettext_noop("Deleted."),
            ENDED,
            _delete,
            permission="delete",
            flag=audit.DELETION,
            for_one=_("Delete"),
        ),
    )
}


# Preview


@dataclass(frozen=True)
class Preview:
    """What an action would do, and what it may cost."""

    action: Action
    numbers: dict[Status, Number]
    before: datetime  # by the database's clock; jobs that qualify later were not shown
    provider: str | None = None  # None: no paid call is made
    price: Decimal | None = None  # of one call, made as its provider makes them now
    tokens_cost: bool = False  # beside that
    left_today: Decimal | None = None  # of the provider's budget; None: no limit
    refused: str = ""  # why this action changes no job of this kind
    skipped: Sequence[tuple[str, Number]] = ()  # jobs in its origins that are left alone, and why

    @property
    def changed(self) -> Number:
        if self.refused:
            return Number(0)
        found = sum(int(self.numbers[status]) for status in self.action.origins)
        return Number(max(0, found - sum(int(number) for _, number in self.skipped)))

    @property
    def left(self) -> list[tuple[Status, Number]]:
        """How many jobs are left alone, per state."""
        return [
            (status, number)
            for status, number in self.numbers.items()
            if number and (self.refused or status not in self.action.origins)
        ]

    @property
    def left_alone(self) -> list[tuple[str, Number]]:
        return [*((str(status.label), number) for status, number in self.left), *self.skipped]

    @property
    def cost(self) -> Decimal | None:
        """The estimated cost: one call at today's price for each counted job.

        A stored answer that fits the request makes it cheaper; retries make it more expensive.
        """
        return None if self.price is None else self.price * min(self.changed, MANY)

    @property
    def has_price(self) -> bool:
        return bool(self.price) or self.tokens_cost

    @property
    def is_beyond_budget(self) -> bool:
        """Whether it may cost more than is left today: the rest of the jobs waits for another day.

        More jobs than were counted can cost any amount.
        """
        if not self.price or self.cost is None or self.left_today is None:
            return False
        return self.cost > self.left_today or not self.changed.is_exact

    @property
    def is_free(self) -> bool:
        """Whether its provider costs nothing. A price of 0 is no proof: it may not be set yet."""
        return limits.is_free(self.provider)


def preview(action: Action, jobs: Jobs) -> Preview:
    """Count what an action on these jobs would change, reading a bounded number of rows."""
    before = clock.now()  # before counting: the action must not take a job that was not shown
    numbers = counting.counts({status: jobs.filter(status=status) for status in Status})
    provider = jobs.model.provider_name() if action.pays else None
    if provider is None:
        refused = _refused(action, jobs.model)
        return Preview(action, numbers, before, refused=refused, skipped=action.left_alone(jobs))
    row = limits.find(provider)
    price = row.cost(batch=takes_batches(row))
    return Preview(
        action, numbers, before, provider, price, row.tokens_cost, left_today=row.left_today
    )


def _refused(action: Action, model: type[Job]) -> str:
    if action.name != "cancel" or model().is_cancelable:
        return ""
    text = _("Not canceled here: %(kind)s. The page of each has “Cancel at the provider”.")
    return text % {"kind": model._meta.verbose_name_plural}


# Carry out


@dataclass(frozen=True)
class Result:
    """How many jobs were changed; `last` is the id to continue after, if some are left."""

    changed: int
    last: UUID | None = None


def carry_out(
    action: Action,
    jobs: Jobs,
    by: object,
    after: UUID | None = None,
    seconds: float = SECONDS,
    *,
    before: datetime | None = None,
) -> Result:
    """Change the jobs chunk by chunk, in the order of their ids, until all are done or time is up.

    With `before`, only jobs that qualified at that moment: those that the person was shown. A
    passing database fault ends it early, or is raised if no job was changed yet.
    """
    give_up_at = time.monotonic() + seconds
    movable = jobs.filter(status__in=action.origins)
    if before:
        movable = movable.filter(**{f"{action.moment}__lte": before})
    changed = 0
    last = after
    try:
        while moved := _move_some(action, _beyond(movable, last), by):
            changed += len(moved)
            last = moved[-1].id
            if time.monotonic() > give_up_at and _beyond(movable, last).exists():
                return Result(changed, last)
    except Error as error:
        if not changed or not faults.is_passing(error):
            raise
        return Result(changed, last)
    return Result(changed)


def _move_some(action: Action, jobs: Jobs, by: object) -> list[Any]:
    """Move one chunk and write its audit, both in one transaction."""
    with sessions.short_transaction():
        moved = action.move(jobs, by)
        told_of = action.told_of or (lambda job: action.logged)
        audit.note_each(by, [(job, told_of(job)) for job in moved], action.flag)
    return moved


def _beyond(jobs: Jobs, last: UUID | None) -> Jobs:
    return jobs.filter(id__gt=last) if last else jobs
