"""Another time or priority for queued jobs, and only for those."""

import threading
from datetime import datetime, timedelta

import pytest
from django.db.models.functions import Now

from jobs import queue
from jobs.db import clock
from jobs.models import Status
from jobs.queue import rescheduling
from tests.jobs.conftest import elsewhere, in_another_thread, make_due, new_chore
from tests.jobs.console.pages import in_state, new_call
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db(transaction=True)

HOUR = timedelta(hours=1)


def reschedule(**wish):
    return queue.reschedule(Chore.objects.all(), by="ada", **wish)


def test_a_later_time_is_kept_exactly(worker, chore):
    later = clock.now() + HOUR

    [before] = reschedule(run_after=later)

    assert before.run_after == chore.run_after
    assert Chore.objects.get().run_after == later
    assert worker.claim() == []


def test_an_earlier_time_makes_a_job_due(worker):
    new_chore("later", run_after=clock.now() + HOUR)

    reschedule(run_after=clock.now() - HOUR)

    assert len(worker.claim()) == 1
    assert Chore.objects.filter(run_after__lte=Now()).count() == 1


def test_now_costs_a_job_that_is_due_no_place_in_the_line(worker):
    first, second = new_chore("first"), new_chore("second")
    for job in (second, first):
        make_due(job)
    Chore.objects.filter(pk=first.pk).update(run_after=Now() - HOUR)

    queue.reschedule(Chore.objects.filter(pk=first.pk), run_after=clock.now())

    assert worker.claim_one().pk == first.pk


def test_a_lower_priority_is_claimed_first(worker):
    new_chore("first")
    second = new_chore("second")

    queue.reschedule(Chore.objects.filter(pk=second.pk), priority=-1)

    assert worker.claim_one().pk == second.pk


def test_what_is_not_asked_for_stays(chore):
    reschedule(priority=7)

    job = Chore.objects.get()
    assert (job.priority, job.run_after) == (7, chore.run_after)
    assert (job.status, job.epoch, job.attempts) == (chore.status, chore.epoch, chore.attempts)
    assert job.updated_at > chore.updated_at


@pytest.mark.parametrize("status", [status for status in Status if status != Status.QUEUED])
def test_a_job_that_is_not_queued_is_left_alone(status):
    in_state(status, "sweep")

    assert reschedule(run_after=clock.now() + HOUR, priority=7) == []
    assert Chore.objects.get().priority == 0


def test_a_job_that_a_worker_claims_meanwhile_is_left_alone(worker, chore):
    found = []
    asked = threading.Thread(
        target=lambda: found.append(in_another_thread(lambda: reschedule(priority=7)))
    )
    with elsewhere(worker.claim):
        asked.start()
    asked.join()

    assert found == [[]]
    assert Chore.objects.get().priority == 0


def test_a_job_in_a_batch_keeps_its_time_and_may_change_its_priority(chore):
    new_call(chore, state="waiting")

    assert reschedule(run_after=clock.now() + HOUR, priority=7) == []
    assert len(reschedule(priority=7)) == 1
    assert list(rescheduling.in_batch(Chore.objects.all())) == [chore]
    assert Chore.objects.get().run_after == chore.run_after


def test_many_are_changed_in_chunks_by_id(monkeypatch):
    monkeypatch.setattr("jobs.queue.moves.CHUNK", 2)
    jobs = [new_chore(f"chore {number}") for number in range(5)]

    changed = reschedule(priority=7)

    assert [job.pk for job in changed] == sorted(job.pk for job in jobs)
    assert set(Chore.objects.values_list("priority", flat=True)) == {7}


def test_no_more_than_asked_for_are_changed():
    for number in range(3):
        new_chore(f"chore {number}")

    assert len(reschedule(priority=7, most=2)) == 2
    assert Chore.objects.filter(priority=7).count() == 2


def test_a_key_and_its_rule_are_kept(worker):
    queue.enqueue([Chore(name="a", unique_key="k")])

    reschedule(run_after=clock.now() + HOUR)

    assert queue.enqueue([Chore(name="b", unique_key="k")]) == []


# Bad values


@pytest.mark.parametrize("priority", [-32_769, 32_768, 1.5, True, "7"])
def test_a_priority_that_no_column_holds_is_refused_by_name(chore, priority):
    with pytest.raises(ValueError, match="priority="):
        reschedule(priority=priority)


@pytest.mark.parametrize("time", [datetime(2030, 1, 1), "tomorrow", 60])  # noqa: DTZ001
def test_a_time_that_is_no_moment_is_refused_by_name(chore, time):
    with pytest.raises(ValueError, match="run_after="):
        reschedule(run_after=time)


def test_a_time_beyond_a_year_is_refused(chore):
    with pytest.raises(ValueError, match="at most 366 days"):
        reschedule(run_after=clock.now() + timedelta(days=367))


def test_nothing_to_change_is_refused(chore):
    with pytest.raises(ValueError, match="nothing to change"):
        reschedule()
