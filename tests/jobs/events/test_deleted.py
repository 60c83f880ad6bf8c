"""An event is deleted with its ended jobs, and never while one of them is open."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now

from jobs.errors import NotEnded
from jobs.events.models import EventJob
from jobs.models import Event
from tests.jobs.events.conftest import meet, ring

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize(
    "delete", [lambda event: event.delete(), lambda _: Event.objects.all().delete()]
)
def test_an_event_with_an_open_job_is_kept(worker, delete):
    event = meet()
    worker.succeed(worker.claim_one())

    with pytest.raises(NotEnded, match="has a job that is queued"):
        delete(event)

    assert (Event.objects.count(), EventJob.objects.count()) == (1, 2)


def test_an_event_is_deleted_with_its_ended_jobs(worker):
    event = meet()
    other = ring("bell")
    worker.succeed(*worker.claim(slots=2))

    Event.objects.filter(pk=event.pk).delete()

    assert Event.objects.get() == other
    assert EventJob.objects.get().event == other


def test_events_are_found_by_how_long_ago_they_were_processed(worker):
    old, new, unprocessed = ring(), ring(), ring()
    Event.objects.filter(pk=old.pk).update(processed_at=Now() - timedelta(days=3))
    Event.objects.filter(pk=new.pk).update(processed_at=Now() - timedelta(days=1))

    assert list(Event.objects.processed_before(timedelta(days=2))) == [old]
    assert unprocessed in Event.objects.unprocessed()
