"""An event is processed when the last of its jobs has succeeded or was canceled."""

import threading

import pytest
from django.db import connection, transaction

from jobs import queue
from jobs.db import sessions
from jobs.errors import PermanentError
from jobs.events.models import EventJob
from jobs.models import Event, Status
from tests.jobs.conftest import elsewhere
from tests.jobs.databases import a_session_waits
from tests.jobs.events.conftest import is_processed, job_of, meet, ring
from tests.jobs.processes import wait_until
from tests.testapp.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_first_of_two_handlers_does_not_process_it_and_the_second_does(worker):
    event = meet()
    first, second = worker.claim(slots=2)

    worker.succeed(first)
    assert not is_processed(event)
    worker.succeed(second)

    assert is_processed(event)


def test_two_handlers_settled_together_process_it(worker):
    event = meet()

    worker.succeed(*worker.claim(slots=2))

    assert is_processed(event)


def test_a_canceled_handler_counts_as_settled(worker):
    event = meet()
    queue.cancel(EventJob.objects.filter(handler="one"))
    assert not is_processed(event)

    worker.succeed(worker.claim_one())

    assert is_processed(event)


def test_canceling_its_only_job_processes_it():
    event = ring("bell")

    queue.cancel(EventJob.objects.all())

    assert is_processed(event)


def test_a_failed_handler_leaves_it_unprocessed(worker):
    event = meet()
    first, second = worker.claim(slots=2)

    worker.fail(first, PermanentError("no"))
    worker.succeed(second)

    assert not is_processed(event)
    assert list(Event.objects.unprocessed()) == [event]


def test_a_failed_handler_that_is_requeued_and_succeeds_processes_it(worker):
    event = ring("bell")
    worker.fail(worker.claim_one(), PermanentError("no"))

    queue.requeue(EventJob.objects.all())
    worker.succeed(worker.claim_one())

    assert is_processed(event)


def test_requeueing_a_job_of_a_processed_event_opens_it_again(worker):
    event = meet()
    worker.succeed(*worker.claim(slots=2))

    queue.requeue(EventJob.objects.filter(handler="one"))
    assert not is_processed(event)
    worker.succeed(worker.claim_one())

    assert is_processed(event)


def test_deleting_the_failed_job_processes_it(worker):
    event = meet()
    first, second = worker.claim(slots=2)
    worker.succeed(first)
    worker.fail(second, PermanentError("no"))

    EventJob.objects.filter(status=Status.FAILED).delete()

    assert is_processed(event)


def test_deleting_a_job_does_not_process_it_while_another_one_is_open(worker):
    event = meet()
    worker.succeed(worker.claim_one())

    EventJob.objects.filter(status=Status.SUCCEEDED).delete()

    assert not is_processed(event)


def test_processed_at_is_written_once(worker):
    event = meet()
    worker.succeed(*worker.claim(slots=2))
    before = Event.objects.get().processed_at

    EventJob.objects.filter(handler="one").delete()

    event.refresh_from_db()
    assert event.processed_at == before


@pytest.mark.postgres
def test_two_handlers_that_end_at_the_same_moment_process_it(worker, other_worker):
    """The second one waits for the first, and then sees its end."""
    event = meet()
    [first], [second] = worker.claim(), other_worker.claim()
    ended = threading.Event()

    def end_second():
        other_worker.succeed(second)
        ended.set()
        connection.close()

    other = threading.Thread(target=end_second)
    with transaction.atomic():
        worker.succeed(first)
        other.start()
        wait_until(a_session_waits)  # for the event's row
        assert not ended.is_set()
    other.join(60)

    assert is_processed(event)
    assert set(EventJob.objects.values_list("status", flat=True)) == {Status.SUCCEEDED}


@pytest.mark.postgres
def test_a_locked_event_holds_up_its_own_jobs_only(worker):
    locked, free = ring("locked"), ring("free")
    jobs = worker.claim(slots=2)

    held = elsewhere(lambda: Event.objects.select_for_update().get(pk=locked.pk))
    with held, sessions.with_patience(sessions.BRIEF):
        [busy] = worker.succeed(*jobs)
        assert is_processed(free)

    assert busy.is_busy
    assert busy.job.event_id == locked.pk
    assert queue.settle([busy]) == []
    assert is_processed(locked)


@pytest.mark.postgres
def test_workers_that_hold_handlers_of_the_same_events_process_all_of_them(worker, other_worker):
    events = [meet() for _ in range(20)]
    jobs = worker.claim(slots=20) + other_worker.claim(slots=20)
    ours = {"one": worker, "other": other_worker}
    for job in jobs:  # each worker has one handler of every event
        job.locked_by = ours[job.handler].name
        EventJob.objects.filter(pk=job.pk).update(locked_by=job.locked_by)
    missed = {}

    def settle(handler, turn):
        mine = [job for job in jobs if job.handler == handler][::turn]
        missed[handler] = ours[handler].succeed(*mine)
        connection.close()

    threads = [threading.Thread(target=settle, args=args) for args in [("one", 1), ("other", -1)]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert missed == {"one": [], "other": []}
    assert all(is_processed(event) for event in events)


def test_hooks_touch_events_in_one_order_so_that_two_workers_do_not_deadlock(worker):
    events = [ring(name) for name in "abc"]
    jobs = worker.claim(slots=3)

    worker.succeed(*sorted(jobs, key=lambda job: job.id, reverse=True))

    in_order = [event.pk for event in sorted(events, key=lambda event: job_of(event).id)]
    assert list(Effect.objects.order_by("id").values_list("job_id", flat=True)) == in_order
