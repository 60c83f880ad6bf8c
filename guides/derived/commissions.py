"""Asking language models for a slice, and keeping what they answer."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, ClassVar
from uuid import UUID

from django.db import models, transaction
from django.db.models import QuerySet, Sum
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from guides.derived.models import Commission
from jobs import llm
from jobs.errors import Snooze
from jobs.llm.models import LLMJob
from jobs.models import Call, Job, Status, uuid7
from jobs.run import Run

# Seconds until the next look at requests that a person requeued. The longer it has waited, the
# longer it waits: a batch may take a day, and each look is a line of the job's history.
SOONEST, LATEST = 10, 300
CANCELED = gettext_noop("Keeping the answers was canceled.")


class Keeper(Job):
    """Follows the last answer of a commission, and keeps all of them.

    They are kept in the transaction in which the requests disappear, so each is kept once,
    however often this runs. A slice's subclass writes `keep`, and `gave_up` and `resumed` if a
    page waits for it. It has no other unique column: a keeper that is there already would not
    follow again.
    """

    asked = models.UUIDField(_("process"), unique=True)

    slice: ClassVar[str]

    class Meta(Job.Meta):
        abstract = True

    def keep(self, answers: Sequence[LLMJob], commission: Commission) -> None:
        """Save what came, in a transaction; failed requests are among the answers.

        Those that staff deleted are not: look at `answer.position`.
        """
        raise NotImplementedError

    def gave_up(self, reason: str) -> None:
        """Nothing will be kept, unless staff requeues this: no page should wait for it."""

    def resumed(self) -> None:
        """Staff has requeued this after it gave up."""

    def perform(self, run: Run) -> None:
        # The commission is locked first. Another run of this job waits here, and then finds that
        # nothing is left to be kept. So do the hooks below, so that they agree with what was kept.
        with transaction.atomic():
            for commission in unkept(self.asked):
                if self.is_still_mine():
                    self.keep_all(commission)

    def is_still_mine(self) -> bool:
        """Whether this worker still has the job: it was not canceled, requeued or taken over."""
        return type(self).objects.held(self).exists()

    def keep_all(self, commission: Commission) -> None:
        with llm.consume(self.asked) as answers:
            # Consuming skips a request that is being requeued at this moment.
            if LLMJob.objects.filter(process_id=self.asked).count() > len(answers):
                raise Snooze(self.patience_with_requests(), "a request was requeued")
            note_kept(commission, answers)
            self.keep(answers, commission)

    def patience_with_requests(self) -> float:
        waited = (timezone.now() - self.created_at).total_seconds()
        return min(max(SOONEST, waited / 10), LATEST)

    # A worker can die, or be canceled, between the commit of `perform` and the end of the job:
    # what is kept has not been given up, and a requeued keeper would find nothing to do.

    def on_failure(self, error: BaseException) -> None:
        for _commission in unkept(self.asked):
            self.gave_up(str(error) or type(error).__name__)

    def on_cancel(self) -> None:
        for _commission in unkept(self.asked):
            self.gave_up(CANCELED)

    def on_requeue(self) -> None:
        for _commission in unkept(self.asked):
            self.resumed()


def unkept(process_id: UUID) -> QuerySet[Commission]:
    """The commission of this process, locked; none if it is kept already."""
    return Commission.objects.select_for_update().filter(pk=process_id, kept_at=None)


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


def note_kept(commission: Commission, answers: Sequence[LLMJob]) -> None:
    """Write down what it cost and who answered, before the requests are deleted.

    The cost has all calls of its requests, also those that failed or are still under way: these
    count with what is booked for them, which a late answer may lower.
    """
    Commission.objects.filter(pk=commission.pk).update(
        failed=sum(answer.status != Status.SUCCEEDED for answer in answers),
        made_by=", ".join(sorted({maker_of(answer) for answer in answers} - {""})),
        cost=cost_of([answer.id for answer in answers]),
        kept_at=Now(),
    )
    commission.refresh_from_db()


def maker_of(answer: LLMJob) -> str:
    """The provider and model that answered; empty for a failed request."""
    if answer.status != Status.SUCCEEDED:
        return ""  # requeued after a success, it may still have the old answer
    return str((answer.response_json or {}).get("provider", ""))


def cost_of(job_ids: Sequence[UUID]) -> Decimal:
    spent = Call.objects.filter(job_id__in=job_ids).aggregate(sum=Sum("cost"))["sum"]
    return spent or Decimal(0)


def of_guide(plan_id: str) -> QuerySet[Commission]:
    return Commission.objects.filter(plan_id=plan_id).order_by("-created_at")
