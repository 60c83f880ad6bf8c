"""What people do to many jobs at once: first what would happen, then a bounded piece of it."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.contrib.admin.models import CHANGE, DELETION
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from jobs import audit, counting, providers, queue
from jobs.counting import MANY, Number
from jobs.models import ENDED, Call, Job, State, Status

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

Jobs = QuerySet[Any]
Move = Callable[[Jobs, object, queue.Note], tuple[int, int]]

SECONDS = 5.0  # of work per request; far below any server's patience
NOT_SUCCEEDED = (Status.FAILED, Status.CANCELED)


@dataclass(frozen=True)
class Action:
    """Something to do to jobs that are in one of these states; others are left alone."""

    name: str
    title: "StrPromise"
    done: "StrPromise"
    logged: str
    origins: tuple[Status, ...]
    move: Move
    permission: str = "change"
    flag: int = CHANGE
    pays: bool = False
    for_one: "StrPromise | None" = None  # the title on a button of one job, if it is another

    @property
    def button(self) -> "StrPromise":
        return self.for_one or self.title


def _requeue(origins: tuple[Status, ...], *, first: bool = False) -> Move:
    def move(jobs: Jobs, by: object, note: queue.Note) -> tuple[int, int]:
        return queue.requeue(jobs, by, origins=origins, first=first, note=note)

    return move


def _cancel(jobs: Jobs, by: object, note: queue.Note) -> tuple[int, int]:
    return queue.cancel(jobs, f"Canceled by {by}.", by, note)


@transaction.atomic
def _delete(jobs: Jobs, by: object, note: queue.Note) -> tuple[int, int]:
    ended = jobs.filter(status__in=ENDED)
    rows = list(ended.order_by("id").select_for_update())
    note(rows)
    jobs.model.objects.with_ids([row.id for row in rows]).delete()
    return len(rows), 0


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
            _("Run again those that have succeeded"),
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
            _("Delete those that have ended"),
            _("Jobs deleted: %s."),
            gettext_noop("Deleted."),
            ENDED,
            _delete,
            permission="delete",
            flag=DELETION,
            for_one=_("Delete"),
        ),
    )
}


# Before


@dataclass(frozen=True)
class Preview:
    """What an action would do, and what it may cost."""

    action: Action
    numbers: dict[Status, Number]
    price: Decimal | None = None  # of one call; None: no provider is asked
    already_paid: int = 0  # their answers are stored

    @property
    def changed(self) -> Number:
        return Number(sum(int(self.numbers[status]) for status in self.action.origins))

    @property
    def left_alone(self) -> list[tuple[str, Number]]:
        return [
            (str(status.label), number)
            for status, number in self.numbers.items()
            if number and status not in self.action.origins
        ]

    @property
    def cost(self) -> Decimal | None:
        """The most it can cost at today's price, of those that were counted."""
        if self.price is None:
            return None
        return self.price * max(0, min(self.changed, MANY) - self.already_paid)


def preview(action: Action, jobs: Jobs) -> Preview:
    """Count what an action on these jobs would change, reading a bounded number of rows."""
    numbers = counting.counts({status: jobs.filter(status=status) for status in Status})
    provider = jobs.model.provider_name() if action.pays else None
    if provider is None:
        return Preview(action, numbers)
    return Preview(
        action, numbers, price=providers.find(provider).price, already_paid=_paid(action, jobs)
    )


def _paid(action: Action, jobs: Jobs) -> Number:
    some = jobs.filter(status__in=action.origins).order_by("id").values("id")[:MANY]
    stored = Call.objects.filter(job_id=OuterRef("id"), state=State.STORED)
    return counting.count(jobs.model.objects.filter(Exists(stored), id__in=some))


# Now


@dataclass(frozen=True)
class Result:
    """How many were changed; `last` is where to go on, if time was up before the end."""

    changed: int
    last: UUID | None = None


def carry_out(
    action: Action, jobs: Jobs, by: object, after: UUID | None = None, seconds: float = SECONDS
) -> Result:
    """Change them chunk by chunk, in the order of their ids, until all are or time is up."""
    model: type[Job] = jobs.model
    give_up_at = time.monotonic() + seconds
    movable = jobs.filter(status__in=action.origins).order_by("id")
    changed = 0

    def note(moved: list[Any]) -> None:
        audit.note(by, moved, action.logged, action.flag)

    while ids := _ids(movable, after):
        some, _left = action.move(model.objects.with_ids(ids), by, note)
        changed += some
        after = ids[-1]
        if time.monotonic() > give_up_at and _ids(movable, after, 1):
            return Result(changed, after)
    return Result(changed)


def _ids(jobs: Jobs, after: UUID | None, most: int = queue.CHUNK) -> list[UUID]:
    if after:
        jobs = jobs.filter(id__gt=after)
    return list(jobs.values_list("id", flat=True)[:most])
