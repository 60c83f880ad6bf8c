"""An event is recorded once per source and key, in the caller's transaction."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from jobs import events, queue, tracing
from jobs.events import recording
from jobs.events.models import EventJob
from jobs.models import Event
from jobs.queue import processes
from tests.jobs.conftest import in_another_thread, new_chore
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db(transaction=True)


def record(key="k", source="shop", kind="bell.rung", **payload):
    return events.record(source, kind, payload, dedupe_key=key)


def test_an_event_is_stored_with_a_job_for_each_handler():
    event, is_new, _ = events.record("shop", "pair.met", {"a": [1, None]}, dedupe_key="k")

    assert is_new
    stored = Event.objects.get()
    assert (stored.source, stored.kind, stored.dedupe_key) == ("shop", "pair.met", "k")
    assert (stored.payload, stored.processed_at) == ({"a": [1, None]}, None)
    assert event.created_at == stored.created_at
    assert sorted(EventJob.objects.values_list("handler", flat=True)) == ["one", "other"]


def test_the_second_time_is_known_and_adds_nothing():
    first = record(name="bell")

    second = record(name="bell")

    assert (second.event.pk, second.is_new, second.is_same) == (first.event.pk, False, True)
    assert (Event.objects.count(), EventJob.objects.count()) == (1, 1)


@pytest.mark.parametrize("difference", [{"name": "gong"}, {"kind": "pair.met"}])
def test_the_first_of_two_that_differ_wins(difference):
    first = record(**{"name": "bell", **difference})

    second = record(name="bell")

    assert (second.event.pk, second.is_new, second.is_same) == (first.event.pk, False, False)
    assert Event.objects.get().payload == first.event.payload


@pytest.mark.parametrize("number", [1e22, 1e308, 5e-324, -0.0, 1.5, 10**300, 2**53 + 1])
def test_the_same_number_is_the_same_however_the_database_writes_it(number):
    record(number=number)

    assert record(number=number).is_same


@pytest.mark.parametrize(("one", "other"), [(1, True), (0, False), (1, "1"), (2**53, 2**53 + 1)])
def test_values_that_look_alike_are_not_the_same(one, other):
    record(value=one)

    assert not record(value=other).is_same


def test_another_source_may_use_the_same_key():
    assert record(source="a").is_new
    assert record(source="b").is_new


def test_without_a_key_every_event_is_new():
    assert record(key=None).is_new
    assert record(key=None).is_new


def test_what_the_caller_rolls_back_was_never_recorded():
    with transaction.atomic():
        record()
        transaction.set_rollback(True)

    assert (Event.objects.count(), EventJob.objects.count()) == (0, 0)
    assert record().is_new


def test_without_a_transaction_neither_the_event_nor_its_jobs_are_kept_alone(monkeypatch):
    monkeypatch.setattr(queue, "enqueue", lambda jobs: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        record()

    assert not Event.objects.exists()


def test_many_sessions_at_once_record_one_event():
    start = threading.Barrier(8)

    def race():
        start.wait(60)
        return in_another_thread(record)

    with ThreadPoolExecutor(8) as sessions:
        recorded = [each.result() for each in [sessions.submit(race) for _ in range(8)]]

    assert sorted(each.is_new for each in recorded) == [False] * 7 + [True]
    assert len({each.event.pk for each in recorded}) == 1
    assert EventJob.objects.count() == 1


def test_an_event_deleted_while_it_is_met_is_recorded_anew(monkeypatch):
    old = record().event
    Event.objects.filter(pk=old.pk).update(processed_at=old.created_at)
    EventJob.objects.update(status="canceled", finished_at=old.created_at)
    insert = recording.inserts.insert_missing

    def insert_and_lose(rows):
        inserted = insert(rows)
        Event.objects.filter(pk=old.pk).delete()
        return inserted

    monkeypatch.setattr(recording.inserts, "insert_missing", insert_and_lose)
    new = record()

    assert new.is_new
    assert Event.objects.get().pk == new.event.pk != old.pk


def test_what_nothing_handles_yet_is_processed_at_once():
    event = events.record("shop", "leaf.fell").event

    assert event.processed_at is not None
    assert not EventJob.objects.exists()


def test_an_event_without_handlers_is_one_query(django_assert_num_queries):
    with transaction.atomic(), django_assert_num_queries(1):
        events.record("shop", "leaf.fell", {"tree": 3})


def test_an_event_of_a_job_belongs_to_its_trace_and_process():
    process = processes.start("a week")
    parent = new_chore("sweep", process_id=process.pk)
    with tracing.on_behalf_of(parent):
        record()

    job = EventJob.objects.get()
    assert (job.parent_id, job.process_id) == (parent.pk, process.pk)
    assert tracing.trace_of(job.trace) == (tracing.trace_of(parent.trace) or parent.pk.hex)
    process.refresh_from_db()
    assert process.open == 2
    assert Chore.objects.count() == 1


@pytest.mark.postgres
def test_a_session_that_rolls_back_leaves_the_event_to_the_one_that_waits():
    meanwhile, goes_on = threading.Event(), threading.Event()

    def record_and_roll_back():
        with transaction.atomic():
            record()
            meanwhile.set()
            goes_on.wait(60)
            transaction.set_rollback(True)
        connection.close()

    one = threading.Thread(target=record_and_roll_back)
    one.start()
    meanwhile.wait(60)
    with ThreadPoolExecutor(1) as other:
        waiting = other.submit(in_another_thread, record)
        goes_on.set()
        assert waiting.result().is_new
    one.join()

    assert EventJob.objects.count() == 1
