"""Asking language models for a slice, and keeping what they answer."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, ClassVar
from uuid import UUID

from django.db import models, transaction
from django.db.models import QuerySet, Sum
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from guides.derived.models import Commission
from jobs import llm
from jobs.errors import Snooze
from jobs.llm.models import LLMJob
from jobs.models import Call, Job, Status, uuid7
from jobs.run import Run

REQUEUED = 10  # seconds until the next look at requests that a person requeued


class Keeper(Job):
    """Follows the last answer of a commission, and keeps all of them.

    They are kept in the transaction in which the requests disappear, so each is kept once,
    however often this runs. A slice's subclass writes `keep`.
    """

    asked = models.UUIDField(_("process"), unique=True)

    slice: ClassVar[str]

    class Meta(Job.Meta):
        abstract = True

    def keep(self, answers: Sequence[LLMJob], commission: Commission) -> None:
        """Save what came, in a transaction; failed requests are among the answers."""
        raise NotImplementedError

    def perform(self, run: Run) -> None:
        # The commission is locked first: another run of this job waits here, and then finds that
        # nothing is left to be kept.
        with transaction.atomic():
            rows = Commission.objects.select_for_update().filter(pk=self.asked, kept_at=None)
            for commission in rows:
                self.keep_all(commission)

    def keep_all(self, commission: Commission) -> None:
        if llm.progress(self.asked).open:
            raise Snooze(REQUEUED, "a request was requeued")
        with llm.consume(self.asked) as answers:
            note_ended(commission, answers)
            self.keep(answers, commission)


@transaction.atomic
def ask(
    requests: Sequence[dict[str, Any]],
    then: Keeper,
    *,
    subject: object,
    plan_id: str = "",
    by: object = "",
) -> Commission:
    """Submit these requests in the caller's transaction; the keeper follows the last answer."""
    then.asked = uuid7()
    label = f"{then.slice}: {subject}"
    process = llm.submit(requests, label=label, process_id=then.asked, then=then)
    return Commission.objects.create(
        process_id=process.pk,
        slice=then.slice,
        subject=str(subject)[:200],
        plan_id=plan_id,
        asked_by=str(by),
        requests=len(requests),
    )


def note_ended(commission: Commission, answers: Sequence[LLMJob]) -> None:
    """Write down what it cost and who answered, before the requests are deleted."""
    commission.failed = sum(answer.status != Status.SUCCEEDED for answer in answers)
    commission.made_by = ", ".join(sorted({maker_of(answer) for answer in answers} - {""}))
    commission.cost = cost_of([answer.id for answer in answers])
    commission.kept_at = Now()
    commission.save()


def maker_of(answer: LLMJob) -> str:
    """The provider and model that answered; empty for a failed request."""
    return str((answer.response_json or {}).get("provider", ""))


def cost_of(job_ids: Sequence[UUID]) -> Decimal:
    spent = Call.objects.filter(job_id__in=job_ids).aggregate(sum=Sum("cost"))["sum"]
    return spent or Decimal(0)


def of_guide(plan_id: str) -> QuerySet[Commission]:
    return Commission.objects.filter(plan_id=plan_id).order_by("-created_at")
