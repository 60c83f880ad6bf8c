"""What operators ask of batches."""

import logging

from django.db.models.functions import Now

from jobs.models import Status
from jobs.models.call import CallQuerySet
from jobs.paid.batches import members
from jobs.paid.batches.models import Batch
from jobs.tracing import logged

log = logging.getLogger(__name__)


@logged
def cancel(batch: Batch, by: object = "a program") -> bool:
    """Ask the provider to stop it; what is finished there is still used.

    False if nothing is sent yet, or nothing runs there any more.
    """
    sent = Batch.objects.living().filter(pk=batch.pk, create_sent_at__isnull=False, ended_at=None)
    if not sent.update(cancel_asked=True):
        return False
    log.info("%s: cancel asked by %s", batch, by)
    look_now(batch)
    return True


@logged
def look_now(batch: Batch) -> bool:
    """Take its next step now; False if it is running, or has ended."""
    asleep = Batch.objects.filter(pk=batch.pk, status=Status.QUEUED, run_after__gt=Now())
    return bool(asleep.update(run_after=Now()))


@logged
def hurry(calls: CallQuerySet, by: object = "a program") -> int:
    """Make these calls at once, unless a batch has collected them; returns how many."""
    number = members.make_at_once(calls)
    log.info("%d calls that waited for a batch are made at once, asked by %s", number, by)
    return number
