"""What operators ask for: cancel a batch, look at it now, make the rest at once."""

from django.db.models import QuerySet
from django.db.models.functions import Now

from jobs.models import Call, State
from jobs.paid.batches.models import Batch


def cancel(batch: Batch) -> None:
    Batch.objects.filter(pk=batch.pk).update(cancel_asked=True, run_after=Now())  # type: ignore[misc]


def look_now(batch: Batch) -> None:
    Batch.objects.filter(pk=batch.pk).update(run_after=Now())


def hurry(calls: QuerySet[Call]) -> int:
    """Returns how many will be made at once."""
    return calls.filter(state=State.WAITING).update(is_chosen=False)
