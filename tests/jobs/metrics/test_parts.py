"""What each metric says about the tables."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.db.models import F
from django.db.models.functions import Now

from jobs import queue
from jobs.console import counting
from jobs.db import clock
from jobs.metrics import families, parts
from jobs.models import Call, Provider, Schedule, State, Status, Total, Worker, uuid7
from jobs.queue import pausing
from jobs.schedules import declaring
from tests.jobs.batching import submitted
from tests.jobs.conftest import expire_lease, make_due, new_chore
from tests.jobs.console.pages import EVIL, in_state
from tests.testapp.models import Chore, Order, WeeklyReport

pytestmark = pytest.mark.django_db

CHORE = Chore._meta.label
SHOP = Order.provider_name()
REPORT = WeeklyReport._meta.label


def values(part, family):
    """The values of a family by its labels; a label alone stands for itself."""
    found = {
        sample.labels if len(sample.labels) != 1 else sample.labels[0]: sample.values
        for sample in part()
        if sample.family is family
    }
    return {labels: value if len(value) > 1 else value[0] for labels, value in found.items()}


def of_chores(family):
    return values(parts.parts()[CHORE], family)


# Jobs


def test_jobs_are_counted_by_status():
    in_state(Status.FAILED, "a", "b")
    new_chore("c")

    assert of_chores(families.JOBS) == {
        (CHORE, "queued"): 1,
        (CHORE, "processing"): 0,
        (CHORE, "succeeded"): 0,
        (CHORE, "failed"): 2,
        (CHORE, "canceled"): 0,
    }


def test_a_million_jobs_are_more_than_many(monkeypatch):
    monkeypatch.setattr(counting, "MANY", 3)
    queue.enqueue([Chore(name=str(number)) for number in range(9)])

    assert of_chores(families.JOBS)[CHORE, "queued"] == 4


def test_the_oldest_due_job_tells_how_long_it_has_waited():
    new_chore("later", run_after=Now() + timedelta(days=1))
    assert of_chores(families.OLDEST_WAITING) == {CHORE: 0}

    make_due(new_chore("due"))
    Chore.objects.filter(name="due").update(run_after=Now() - timedelta(hours=1))

    waited = of_chores(families.OLDEST_WAITING)[CHORE]
    assert 3600 <= waited < 3600 + 300


def test_a_lease_that_ended_is_seen_until_somebody_rescues_the_job(worker):
    new_chore("a"), new_chore("b")
    lost, _held = worker.claim(slots=2)
    expire_lease(lost)

    assert of_chores(families.EXPIRED_LEASES) == {CHORE: 1}

    queue.rescue(Chore)

    assert of_chores(families.EXPIRED_LEASES) == {CHORE: 0}


def test_a_paused_kind_is_marked():
    pausing.pause(CHORE, reason=EVIL)

    paused = values(parts.pauses, families.KIND_PAUSED)

    assert {kind for kind, is_paused in paused.items() if is_paused} == {CHORE}


# Attempts


def test_attempts_are_counted_with_their_time_and_none_is_a_zero(worker):
    new_chore("a"), new_chore("b")
    good, bad = worker.claim(slots=2)
    Chore.objects.update(locked_at=F("locked_at") - timedelta(seconds=90))
    worker.succeed(good)
    worker.fail(bad, ValueError(EVIL))

    attempts = values(parts.attempts, families.ATTEMPTS)
    number, seconds = values(parts.attempts, families.ATTEMPT_SECONDS)[CHORE, "succeeded"]

    assert (attempts[CHORE, "succeeded"], attempts[CHORE, "failed"]) == (1, 1)
    assert attempts[CHORE, "lost"] == attempts[REPORT, "succeeded"] == 0
    assert number == 1
    assert 90 <= seconds < 90 + 300


def test_attempts_of_a_kind_that_no_code_knows_are_left_out():
    Total.objects.create(kind=EVIL, outcome=EVIL, day="2026-01-01", number=7, milliseconds=7)

    assert not any(EVIL in labels for labels in values(parts.attempts, families.ATTEMPTS))


# Workers


def test_workers_are_counted_by_what_they_do(alive):
    soon = Now() + timedelta(minutes=1)
    Worker.objects.create(name="old", slots=1, version="1", lease_expires_at="2020-01-01T00:00Z")
    Worker.objects.create(
        name=EVIL,
        slots=1,
        version=EVIL,
        draining=True,
        lease_expires_at=soon,
        last_beat_at=Now() - timedelta(minutes=2),
    )

    found = {sample.family: sample.values for sample in parts.workers()}

    assert found == {
        families.WORKERS: (2,),
        families.WORKERS_WORKING: (1,),
        families.WORKERS_LATE: (1,),
    }


# Providers, calls, batches


def test_a_provider_tells_what_it_spent_and_what_is_left():
    Provider.objects.create(name=SHOP, daily_budget=Decimal("7.5"), burst=3, paused=True)
    Provider.objects.filter(name=SHOP).update(spent=Decimal("1.25"), spent_on=clock.now().date())

    found = {sample.family.name: sample.values[0] for sample in parts.providers()}

    assert found == {
        "tabie_provider_paused": 1,
        "tabie_provider_spent": 1.25,
        "tabie_provider_budget": 7.5,
        "tabie_provider_tokens": 3,
    }


def test_what_has_no_limit_has_no_number_that_could_pass_for_one():
    Provider.objects.create(name=SHOP, requests_per_minute=None, daily_budget=None)

    found = {sample.family for sample in parts.providers()}

    assert found == {families.PROVIDER_PAUSED, families.PROVIDER_SPENT}


def test_providers_that_no_job_uses_are_left_out():
    Provider.objects.create(name=EVIL)

    assert list(parts.providers()) == []


def test_calls_that_may_have_been_paid_for_are_counted():
    Call.objects.create(
        provider=EVIL,
        job_id=uuid7(),
        kind=CHORE,
        epoch=1,
        worker="w",
        key="k",
        number=1,
        state=State.UNKNOWN,
        deadline=Now(),
    )

    assert values(parts.calls, families.CALLS_UNKNOWN) == {(): 1}


def test_the_oldest_batch_of_a_provider_has_an_age():
    submitted(provider=SHOP, ago=timedelta(hours=5))
    submitted(provider=SHOP, ago=timedelta(hours=2))
    submitted(provider=SHOP, ago=timedelta(hours=9), ended_at=Now())
    submitted(provider=EVIL, ago=timedelta(hours=9))

    ages = values(parts.batches, families.BATCH_AGE)

    assert 5 * 3600 <= ages.pop(SHOP) < 5 * 3600 + 300
    assert set(ages.values()) == {0}
    assert EVIL not in ages


# Schedules


@pytest.fixture
def schedule():
    facts = next(each for each in declaring.declarations() if each.name == REPORT).facts()
    return Schedule.objects.create(
        name=REPORT, kind=REPORT, cron=facts["cron"], time_zone=facts["time_zone"]
    )


def test_a_schedule_that_no_worker_looks_at_lags(schedule):
    assert values(parts.schedules, families.SCHEDULE_LAG) == {REPORT: 0}

    Schedule.objects.update(last_scheduled_for=datetime(2026, 1, 1, tzinfo=UTC))

    assert values(parts.schedules, families.SCHEDULE_LAG)[REPORT] > 86_400


def test_a_broken_schedule_has_no_lag_and_is_marked(schedule):
    Schedule.objects.update(cron=EVIL)

    assert values(parts.schedules, families.SCHEDULE_LAG) == {}
    assert values(parts.schedules, families.SCHEDULE_BROKEN) == {REPORT: 1}


def test_schedules_that_are_off_or_not_declared_are_left_out(schedule):
    Schedule.objects.update(enabled=False)
    Schedule.objects.create(name=EVIL, kind=REPORT, cron="0 6 * * *", time_zone="UTC")

    assert list(parts.schedules()) == []
