"""Each handler gets each event, as a job with retries, oldest first."""

import logging

import pytest

from jobs import events, queue
from jobs.errors import HandlerMissing
from jobs.events.models import EventJob
from jobs.models import Attempt, Event, Status
from tests.jobs.conftest import expire_lease
from tests.jobs.events.conftest import is_processed, job_of, make_all_due, ring
from tests.testapp.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)


def effects():
    return list(Effect.objects.order_by("id").values_list("result", flat=True))


def test_a_handler_gets_the_event_and_its_result_goes_to_then(worker):
    event = ring("bell")

    worker.drain()

    assert [Effect.objects.get().job_id, *effects()] == [event.pk, "bell"]
    assert job_of(event).status == Status.SUCCEEDED
    assert is_processed(event)


def test_events_are_handled_in_the_order_of_recording(worker):
    for name in "abcdefgh":
        ring(name)

    worker.drain()

    assert effects() == list("abcdefgh")


def test_one_that_fails_for_ever_holds_up_no_other(worker):
    first = ring("first", do="fail")
    second = ring("second", do="fail for good")
    ring("third")

    for _ in range(5):
        worker.drain()
        make_all_due()

    assert effects() == ["third"]
    assert (job_of(first).status, job_of(first).attempts) == (Status.FAILED, 3)
    assert (job_of(second).status, job_of(second).attempts) == (Status.FAILED, 1)
    assert not is_processed(first)
    assert not is_processed(second)


def test_a_handler_that_recovers_has_one_effect(worker):
    event = ring("bell", do="fail")
    worker.drain()
    Event.objects.update(payload={"name": "bell"})

    make_all_due()
    worker.drain()

    assert effects() == ["bell"]
    assert job_of(event).attempts == 1
    assert is_processed(event)


def test_what_then_did_is_undone_if_it_raises_and_the_handler_is_repeated(worker):
    event = ring("bell", then="raise")
    worker.drain()

    assert effects() == []
    assert (job_of(event).status, job_of(event).last_error) == ("queued", "then was told to raise")

    Event.objects.update(payload={"name": "bell"})
    make_all_due()
    worker.drain()

    assert effects() == ["bell"]


def test_a_worker_that_lost_its_claim_leaves_no_effect(worker, other_worker):
    event = ring("bell")
    lost = worker.claim_one()
    expire_lease(lost)
    queue.rescue(EventJob)
    make_all_due()
    held = other_worker.claim_one()

    assert other_worker.succeed(held, result="held") == []
    assert len(worker.succeed(lost, result="lost")) == 1

    assert effects() == ["held"]
    assert is_processed(event)


def test_a_repeated_settlement_whose_reply_was_lost_has_one_effect(worker):
    ring("bell")
    job = worker.claim_one()

    worker.succeed(job, result="bell")
    worker.succeed(job, result="bell")

    assert effects() == ["bell"]


def test_a_handler_that_the_code_no_longer_has_fails_at_once_and_says_so(worker):
    event = ring("bell")
    EventJob.objects.update(handler="os.system")

    worker.drain()

    job = EventJob.objects.get()
    assert (job.status, job.attempts, job.error_kind) == (Status.FAILED, 1, HandlerMissing.__name__)
    assert "no handler 'os.system' of 'bell.rung' events, only: ring" in job.last_error
    assert not is_processed(event)
    assert Attempt.objects.count() == 1


def test_a_requeued_job_is_handled_once_more(worker):
    ring("bell")
    worker.drain()

    queue.requeue(EventJob.objects.all())
    worker.drain()

    assert effects() == ["bell", "bell"]


def test_a_job_is_named_without_a_query(django_assert_num_queries):
    event = ring("bell")
    job = EventJob.objects.get()

    with django_assert_num_queries(0):
        assert str(job) == f"ring ({event.pk})"


def test_recording_logs_no_contents(caplog):
    with caplog.at_level(logging.DEBUG, "jobs.events.recording"):
        events.record("shop", "bell.rung", {"card": "4111"}, dedupe_key="secret")

    assert "ENTER record" in caplog.text
    facts = [str(vars(line)) for line in caplog.records]
    assert not any("4111" in each or "secret" in each for each in facts)
