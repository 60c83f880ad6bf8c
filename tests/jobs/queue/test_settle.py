from datetime import timedelta

import pytest
from django.db import DataError, OperationalError, connections, transaction
from django.db.models.functions import Now

from jobs import queue
from jobs.errors import Cancel, LeaseLost, PermanentError, ProviderUnavailable, Snooze
from jobs.models import Attempt, Outcome, Status
from jobs.queue import history
from jobs.queue.outcomes import End
from tests.jobs.conftest import expire_lease, in_another_thread, make_due, new_chore
from tests.testapp.models import Chore, Effect

pytestmark = pytest.mark.django_db(transaction=True)

MINUTE = timedelta(minutes=1)


def test_a_success_ends_the_job_with_its_effect_and_its_history(worker, chore):
    job = worker.claim_one()

    assert worker.succeed(job) == []

    row = Chore.objects.get()
    assert (row.status, row.attempts, row.locked_by) == (Status.SUCCEEDED, 0, None)
    assert row.finished_at
    assert Effect.objects.get().result == "done"
    attempt = Attempt.objects.get()
    assert (attempt.job_id, attempt.kind, attempt.epoch) == (job.id, "testapp.Chore", 1)
    assert (attempt.worker, attempt.outcome, attempt.error) == ("fast", "succeeded", None)
    assert attempt.started_at <= attempt.ended_at


def test_a_failure_uses_an_attempt_and_the_job_comes_back_later(worker, chore):
    worker.fail(worker.claim_one(), ValueError("no broom"))

    row = Chore.objects.annotate(now=Now()).get()
    assert (row.status, row.attempts) == (Status.QUEUED, 1)
    assert (row.last_error, row.error_kind) == ("no broom", "ValueError")
    assert row.run_after <= row.now + Chore.backoff_base


def test_the_last_attempt_fails_the_job(worker, chore):
    for _ in range(3):
        make_due(chore)
        worker.fail(worker.claim_one(), ValueError("no broom"))

    row = Chore.objects.get()
    assert (row.status, row.attempts) == (Status.FAILED, 3)
    assert [attempt.epoch for attempt in Attempt.objects.order_by("id")] == [1, 2, 3]


def test_a_permanent_error_fails_the_job_at_once(worker, chore):
    worker.fail(worker.claim_one(), PermanentError("no such room"))

    row = Chore.objects.get()
    assert (row.status, row.attempts, row.last_error) == (Status.FAILED, 1, "no such room")


def test_a_snoozed_job_comes_back_without_using_an_attempt(worker, chore):
    worker.fail(worker.claim_one(), Snooze(60))

    row = Chore.objects.annotate(now=Now()).get()
    assert (row.status, row.attempts, row.last_error) == (Status.QUEUED, 0, None)
    assert MINUTE * 0.9 < row.run_after - row.now <= MINUTE
    assert Attempt.objects.get().outcome == Outcome.SNOOZED


def test_a_job_can_cancel_itself(worker, chore):
    worker.fail(worker.claim_one(), Cancel("the room is gone"))

    row = Chore.objects.get()
    assert (row.status, row.attempts, row.last_error) == (Status.CANCELED, 0, "the room is gone")


def test_a_providers_fault_uses_no_attempt_and_waits_as_long_as_it_asks(worker, chore):
    worker.fail(worker.claim_one(), ProviderUnavailable(retry_after=60))

    row = Chore.objects.annotate(now=Now()).get()
    assert (row.status, row.attempts) == (Status.QUEUED, 0)
    assert row.unavailable_since
    assert MINUTE * 0.99 < row.run_after - row.now <= MINUTE * 1.1
    assert Attempt.objects.get().outcome == Outcome.UNAVAILABLE


def test_the_first_fault_of_a_provider_is_the_one_remembered(worker, chore):
    worker.fail(worker.claim_one(), ProviderUnavailable(retry_after=0))
    first = Chore.objects.get().unavailable_since
    make_due(chore)

    worker.fail(worker.claim_one(), ProviderUnavailable(retry_after=0))

    assert Chore.objects.get().unavailable_since == first


def test_patience_with_a_provider_ends(worker, chore):
    Chore.objects.update(unavailable_since=Now() - Chore.patience - MINUTE)

    worker.fail(worker.claim_one(), ProviderUnavailable(reason="503 from the painter"))

    row = Chore.objects.get()
    assert (row.status, row.attempts) == (Status.FAILED, 0)
    assert "503 from the painter" in row.last_error


def test_an_answer_ends_the_unavailability(worker, chore):
    Chore.objects.update(unavailable_since=Now() - MINUTE)

    worker.succeed(worker.claim_one())

    assert Chore.objects.get().unavailable_since is None


def test_a_released_job_is_due_again_at_once(worker, chore):
    worker.fail(worker.claim_one(), LeaseLost("stopping"))

    assert Chore.objects.due().get().attempts == 0
    assert Attempt.objects.get().outcome == Outcome.RELEASED


def test_a_success_forgets_the_last_error(worker, chore):
    worker.fail(worker.claim_one(), ValueError("no broom"))
    make_due(chore)

    worker.succeed(worker.claim_one())

    row = Chore.objects.get()
    assert (row.last_error, row.error_kind) == (None, None)


def test_a_worker_paused_past_its_lease_writes_nothing(slow_worker, worker, chore):
    held = slow_worker.claim_one()
    expire_lease(held)
    queue.rescue(Chore)
    make_due(held)
    worker.succeed(worker.claim_one(), result="in time")

    missed = slow_worker.succeed(held, result="late")

    assert [end.job for end in missed] == [held]
    assert [effect.result for effect in Effect.objects.all()] == ["in time"]
    assert [(a.epoch, a.outcome) for a in Attempt.objects.order_by("epoch")] == [
        (1, "lost"),
        (3, "succeeded"),
    ]


def test_a_late_result_does_not_land_on_another_workers_claim(slow_worker, worker, chore):
    held = slow_worker.claim_one()
    expire_lease(held)
    queue.rescue(Chore)
    make_due(held)
    worker.claim_one()

    slow_worker.succeed(held, result="late")

    row = Chore.objects.get()
    assert (row.status, row.locked_by) == (Status.PROCESSING, "fast")
    assert not Effect.objects.exists()


def test_settling_twice_changes_nothing(worker, chore):
    job = worker.claim_one()
    worker.succeed(job)
    before = Chore.objects.values().get()

    worker.succeed(job)

    assert Chore.objects.values().get() == before
    assert Effect.objects.count() == Attempt.objects.count() == 1


def test_one_call_settles_many_different_ends(worker):
    for name in "abc":
        new_chore(name)
    a, b, c = sorted(worker.claim(slots=3), key=lambda job: job.name)

    queue.settle(
        [
            End(c, Outcome.SNOOZED, error=Snooze(5), wait=timedelta(seconds=5)),
            End(a, Outcome.SUCCEEDED, steps={"paint": 12}),
            End(b, Outcome.FAILED, error=ValueError("no"), final=True),
        ]
    )

    statuses = Chore.objects.order_by("name").values_list("status", flat=True)
    assert list(statuses) == ["succeeded", "failed", "queued"]
    assert Attempt.objects.get(job_id=a.id).steps == {"paint": 12}
    assert "ValueError: no" in Attempt.objects.get(job_id=b.id).traceback


@pytest.mark.parametrize("many", [1, 50])
def test_the_number_of_queries_does_not_grow_with_the_jobs(many, django_assert_max_num_queries):
    from tests.testapp.models import NoopJob

    queue.enqueue(NoopJob() for _ in range(many))
    jobs = queue.claim(NoopJob, many, "me", MINUTE)

    with django_assert_max_num_queries(7):  # BEGIN, limits, lock, history, totals, move, COMMIT
        queue.settle([End(job, Outcome.SUCCEEDED) for job in jobs])


def test_a_lost_reply_to_the_commit_is_answered_by_repeating(worker, chore, monkeypatch):
    job = worker.claim_one()
    wrapper = connections["default"]
    commit = wrapper.commit

    def commit_and_lose_the_reply():
        commit()
        raise OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(wrapper, "commit", commit_and_lose_the_reply)
    with pytest.raises(OperationalError):
        worker.succeed(job)
    monkeypatch.undo()

    worker.succeed(job)

    assert Chore.objects.get().status == Status.SUCCEEDED
    assert Effect.objects.count() == Attempt.objects.count() == 1


NASTY = {
    "NUL": "before\x00after",
    "lone surrogate": "before\ud800after",
    "10 MB": "x" * 10_000_000,
    "10 MB of kanji": "旅" * 3_000_000,
    "empty": "",
}


@pytest.mark.parametrize("text", NASTY.values(), ids=NASTY.keys())
def test_no_error_text_can_keep_a_failure_from_being_written(worker, chore, text):
    worker.fail(worker.claim_one(), ValueError(text))

    row = Chore.objects.get()
    assert (row.status, row.attempts) == (Status.QUEUED, 1)
    assert 0 < len(row.last_error.encode()) <= 4000
    assert Attempt.objects.get().error == row.last_error


def test_an_error_that_cannot_be_read_is_written_all_the_same(worker, chore):
    class Unreadable(Exception):
        def __str__(self):
            raise RuntimeError

    worker.fail(worker.claim_one(), Unreadable())

    assert Chore.objects.get().error_kind == "Unreadable"


def test_a_vanished_row_is_reported_and_does_not_hurt_the_others(worker):
    new_chore("gone")
    new_chore("here")
    gone, here = sorted(worker.claim(slots=2), key=lambda job: job.name)
    Chore.objects.filter(id=gone.id)._raw_delete("default")

    missed = worker.succeed(gone, here)

    assert [end.job for end in missed] == [gone]
    assert Chore.objects.get().status == Status.SUCCEEDED


@pytest.mark.postgres
def test_a_row_that_somebody_has_locked_does_not_keep_the_others_from_being_settled(worker):
    new_chore("free")
    new_chore("locked")
    free, locked = sorted(worker.claim(slots=2), key=lambda job: job.name)

    with transaction.atomic():
        Chore.objects.select_for_update().get(id=locked.id)
        [missed] = in_another_thread(lambda: worker.succeed(free, locked))

    assert (missed.job, missed.is_busy) == (locked, True)
    assert Chore.objects.get(id=free.id).status == Status.SUCCEEDED
    assert worker.succeed(locked) == []


def test_what_the_database_refuses_to_write_becomes_a_failure(worker, chore, monkeypatch):
    job = worker.claim_one()
    record = history.record

    def refuse_success(model, ends):
        if ends[0].outcome == Outcome.SUCCEEDED:
            raise DataError("no room")
        return record(model, ends)

    monkeypatch.setattr(history, "record", refuse_success)

    worker.succeed(job)

    row = Chore.objects.get()
    assert (row.status, row.attempts, row.error_kind) == (Status.QUEUED, 1, "DataError")
