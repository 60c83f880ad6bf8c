"""Rows that have served their time are deleted, each by its age."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now

from jobs import queue
from jobs.archive import sweeping
from jobs.archive.ages import Ages
from jobs.archive.models import Retention
from jobs.events.models import EventJob
from jobs.llm.models import LLMJob
from jobs.models import Cooldown, Event, Process, Total, Worker
from tests.jobs.conftest import elsewhere
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db(transaction=True)


def ago(**time):
    return Now() - timedelta(**time)


def sweep(go_on=lambda: True):
    done = sweeping.sweep(Ages.now(), go_on)
    return {name: number for name, number in done.items() if number}


def ended(days, status="succeeded"):
    return {"status": status, "finished_at": ago(days=days)}


def event(days=40, key=None, **columns):
    return Event.objects.create(
        source="shop", kind="sold", dedupe_key=key, processed_at=ago(days=days), **columns
    )


def test_processed_events_leave_with_their_ended_jobs():
    old, young = event(40), event(29)
    for each in (old, young):
        EventJob.objects.create(event=each, handler="h", **ended(29))

    assert sweep() == {"events": 1}

    assert Event.objects.get() == young
    assert EventJob.objects.get().event == young


def test_an_event_that_is_not_processed_stays():
    Event.objects.create(source="shop", kind="sold", created_at=ago(days=400))

    assert sweep() == {}


def test_an_event_whose_job_a_person_requeued_stays():
    requeued = EventJob.objects.create(event=event(40), handler="h", **ended(40))
    queue.requeue(EventJob.objects.filter(pk=requeued.pk))

    assert sweep() == {}
    assert EventJob.objects.count() == 1


def test_zero_days_keep_events_and_requests_for_ever(settings):
    settings.EVENT_RETENTION_DAYS = settings.LLM_RETENTION_DAYS = 0
    event(400)
    LLMJob.objects.create(request_json={}, **ended(400))

    assert sweep() == {}


@pytest.mark.postgres
def test_an_event_whose_job_is_locked_stays():
    job = EventJob.objects.create(event=event(40), handler="h", **ended(40))

    with elsewhere(lambda: list(EventJob.objects.filter(pk=job.pk).select_for_update())):
        assert sweep() == {}

    assert sweep() == {"events": 1}


def process(ended_at):
    return Process.objects.create(label="p", sealed=True, ended_at=ended_at)


def test_requests_that_nobody_consumed_leave_after_their_process_has_ended():
    old = process(ago(days=31))
    LLMJob.objects.create(request_json={}, process_id=old.pk, **ended(40))
    LLMJob.objects.create(request_json={}, process_id=old.pk, **ended(40, "failed"))
    LLMJob.objects.create(request_json={}, **ended(40))

    assert sweep() == {"llm_requests": 3}
    assert not LLMJob.objects.exists()


@pytest.mark.parametrize("days", [None, 29])
def test_requests_of_a_process_that_is_open_or_young_stay(days):
    young = process(days and ago(days=days))
    LLMJob.objects.create(request_json={}, process_id=young.pk, **ended(40))

    assert sweep() == {}


def test_living_and_young_requests_stay():
    old = process(ago(days=40))
    LLMJob.objects.create(request_json={}, process_id=old.pk)
    LLMJob.objects.create(request_json={}, process_id=old.pk, **ended(29))

    assert sweep() == {}


def test_workers_that_were_silent_for_a_day_leave():
    for name, hours in (("old", 25), ("young", 23)):
        Worker.objects.create(name=name, slots=1, version="1", lease_expires_at=ago(hours=hours))

    assert sweep() == {"workers": 1}
    assert Worker.objects.get().name == "young"


def test_cooldowns_that_are_over_leave():
    Cooldown.objects.create(kind="k", key="over", until=ago(seconds=1))
    Cooldown.objects.create(kind="k", key="not yet", until=Now() + timedelta(hours=1))

    assert sweep() == {"cooldowns": 1}
    assert Cooldown.objects.get().key == "not yet"


def test_a_cooldown_deleted_while_a_job_is_asked_for_refuses_nothing(monkeypatch):
    Cooldown.objects.create(kind="testapp.Chore", key="k", until=ago(seconds=1))
    create = Cooldown.objects.bulk_create

    def then_sweep(*arguments, **options):
        create(*arguments, **options)
        monkeypatch.undo()
        Cooldown.objects.all().delete()  # between the insert, which met a row, and the lock

    monkeypatch.setattr(Cooldown.objects, "bulk_create", then_sweep)

    created = queue.enqueue([Chore(name="a", unique_key="k")], not_within=timedelta(hours=1))

    assert len(created) == 1
    assert Cooldown.objects.count() == 1


def test_housekeeping_rows_leave_after_a_week():
    Retention.objects.create(**ended(8))
    Retention.objects.create(**ended(6))
    Retention.objects.create()
    Chore.objects.create(name="work", **ended(8))

    assert sweep() == {"jobs.Retention": 1}
    assert Retention.objects.count() == 2
    assert Chore.objects.count() == 1


def test_everything_leaves_in_chunks(monkeypatch):
    monkeypatch.setattr(sweeping, "CHUNK", 2)
    for number in range(5):
        event(40, key=str(number))

    assert sweep() == {"events": 5}


def test_it_stops_between_chunks_when_it_is_told_to(monkeypatch):
    monkeypatch.setattr(sweeping, "CHUNK", 2)
    for number in range(5):
        event(40, key=str(number))
    answers = iter([True])

    assert sweep(lambda: next(answers, False)) == {"events": 2}


def test_totals_are_added_together():
    for _ in range(3):
        Total.objects.create(kind="k", outcome="o", day="2026-01-01", number=1, milliseconds=1)

    assert sweep() == {"totals": 2}
