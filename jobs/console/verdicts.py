"""Calls with an unknown outcome: what a person can find out about one, and then decide.

Each decision is one guarded write with its audit. A late answer always wins: before the decision
it makes the decision void, after it the answer is still stored and its price booked again.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.core.exceptions import SuspiciousOperation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop

from jobs import storage
from jobs.console import actions, audit
from jobs.db import sessions
from jobs.errors import StorageRefused, StorageUnavailable
from jobs.models import Call, Job, State, Status, Worker, job_models
from jobs.paid import ledger, limits, money

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

PAID, UNPAID, AGAIN = "paid", "unpaid", "again"
TITLES = {
    PAID: gettext_lazy("The provider says: it was paid"),
    UNPAID: gettext_lazy("The provider says: it was not paid"),
    AGAIN: gettext_lazy("Ask again"),
}
DONE = {
    PAID: gettext_lazy("Recorded: the call was paid."),
    UNPAID: gettext_lazy("Recorded: the call was not paid, and its price is given back."),
    AGAIN: gettext_lazy("The job is queued again."),
}


@dataclass(frozen=True)
class Choice:
    """A button: what it will do, and why it can't be pressed, if it can't."""

    name: str
    effect: str
    obstacle: str = ""

    @property
    def title(self) -> "StrPromise":
        return TITLES[self.name]


@dataclass(frozen=True)
class Case:
    """A call and everything that helps to decide about it."""

    call: Call
    job: Job | None
    is_unknown: bool
    is_free: bool  # its provider costs nothing
    worker_lives: bool
    answer: str  # whether the answer is in the storage: "yes", "no", or why that is not known

    @property
    def choices(self) -> list[Choice]:
        """The decisions that are open, if any."""
        if not self.is_unknown:
            return []
        again = Choice(AGAIN, self._effect_of_again(), self._obstacle_of_again())
        if self.is_free:
            return [again]
        return [
            Choice(PAID, self._effect_of_paid()),
            Choice(UNPAID, self._effect_of_unpaid(), self._obstacle_of_unpaid()),
            again,
        ]

    def _effect_of_paid(self) -> str:
        text = _("%s stays booked. The call no longer needs a person. This alone starts no call.")
        return text % money.shown(self.call.cost)

    def _effect_of_unpaid(self) -> str:
        return _(
            "%s is given back to the budget of that day. The call counts as failed."
        ) % money.shown(self.call.cost)

    def _obstacle_of_unpaid(self) -> str:
        if self.answer == "yes":
            return _("Its answer is stored, so it was paid. A requeued job uses that answer.")
        if self.answer != "no":
            return _("The storage can't be asked whether the answer is there. Repair it first.")
        if self.call.state == State.INTENT and self.worker_lives:
            return _("Its worker is alive, and may still store the answer.")
        return ""

    def _effect_of_again(self) -> str:
        price = limits.find(self.call.provider).price
        return _(
            "The job is requeued and makes a new call, for about %s. If the answer of this call"
            " is found before, it is used instead."
        ) % money.shown(price)

    def _obstacle_of_again(self) -> str:
        if self.job is None:
            return _("Its job no longer exists here.")
        if self.job.status == Status.SUCCEEDED:
            return _("Its job has succeeded meanwhile.")
        if self.job.status not in actions.NOT_SUCCEEDED:
            return _("Its job has not ended: it asks again by itself.")
        return ""


def case_of(call: Call) -> Case:
    is_unknown = Call.objects.filter(pk=call.pk).unknown().exists()
    return Case(
        call,
        job_of(call),
        is_unknown,
        call.provider in money.free_providers(),
        Worker.objects.alive().filter(name=call.worker).exists(),
        _answer_of(call) if is_unknown else "",
    )


def job_of(call: Call) -> Any:
    """The call's job; None if it was deleted, or if its kind no longer exists."""
    models = {model._meta.label: model for model in job_models()}
    model = models.get(call.kind)
    return model and model.objects.filter(pk=call.job_id).first()


def _answer_of(call: Call) -> str:
    try:
        return "yes" if storage.named("answers").exists(call.answer_name) else "no"
    except (StorageRefused, StorageUnavailable, SuspiciousOperation, OSError, ValueError) as error:
        return str(error)


def decide(call: Call, verdict: str, by: AbstractBaseUser | AnonymousUser) -> bool:
    """Carry out a person's decision; False if the call is not unknown any more."""
    return {PAID: _was_paid, UNPAID: _was_not_paid, AGAIN: _ask_again}[verdict](call, by)


def _was_paid(call: Call, by: object) -> bool:
    with sessions.short_transaction():
        if not Call.objects.same(call).unknown().filter(seen=call.seen).update(seen=True):
            return False
        audit.note(by, [call], gettext_noop("The provider says that it was paid."))
    return True


def _was_not_paid(call: Call, by: object) -> bool:
    with sessions.short_transaction():
        if not ledger.was_not_billed(call):
            return False
        audit.note(by, [call], ledger.NOT_BILLED)
    return True


def _ask_again(call: Call, by: object) -> bool:
    job = job_of(call)
    if job is None or not Call.objects.same(call).unknown().exists():
        return False
    jobs = type(job).objects.filter(pk=job.pk)
    result = actions.carry_out(actions.ACTIONS["requeue"], jobs, by)
    if result.changed:
        audit.note(by, [call], gettext_noop("Its job was requeued, to ask again."))
    return bool(result.changed)
