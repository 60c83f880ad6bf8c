"""History leaves for files: only what is old, and each row is in one place."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db.models import F
from django.db.models.functions import Now

from jobs import queue
from jobs.archive import archiving, files, leaving
from jobs.models import Archive, Attempt, Call, CallTotal, State
from tests.jobs.archive.old import (
    age,
    archive,
    assert_once,
    gone,
    lines,
    old_call,
    old_chore,
    rows_in_database,
    rows_in_files,
)
from tests.jobs.archive.old import files as stored_files
from tests.jobs.conftest import elsewhere, new_chore
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_history_of_a_job_that_ended_long_ago_leaves_for_a_file():
    job = old_chore(failures=2)
    rows = rows_in_database(job)

    assert archive() == {"files": 1, "attempts": 3}

    assert not Attempt.objects.exists()
    [(name, content)] = stored_files().items()
    job.refresh_from_db()
    assert job.log_ref == name
    assert_once({job: rows})
    record = Archive.objects.get()
    assert (record.name, record.rows, record.bytes) == (name, 3, len(content))
    assert (record.first_id, record.last_id, record.kind) == (job.pk, job.pk, "testapp.Chore")


def test_what_is_not_old_enough_stays():
    job = old_chore(days=29)

    assert archive() == {}

    assert rows_in_database(job)
    assert not stored_files()


def test_a_living_job_keeps_everything():
    job = old_chore(failures=1)
    queue.requeue(Chore.objects.all())

    assert archive() == {}

    assert len(rows_in_database(job)) == 2


def test_a_job_that_ended_again_lately_keeps_everything(worker):
    job = old_chore()
    queue.requeue(Chore.objects.all())
    worker.succeed(worker.claim_one())

    assert archive() == {}

    assert len(rows_in_database(job)) == 2


def test_zero_days_keep_it_for_ever(settings):
    settings.LOG_RETENTION_DAYS_DB = 0
    old_chore()

    assert archive() == {}


def test_the_history_of_a_deleted_job_leaves_too():
    job = old_chore()
    Chore.objects.all().delete()

    assert archive() == {"files": 1, "attempts": 1}

    [content] = stored_files().values()
    assert [line["job_id"] for line in lines(content)[1:]] == [str(job.pk)]


def test_the_young_history_of_a_deleted_job_stays():
    job = old_chore(failures=1)
    Attempt.objects.filter(outcome="succeeded").update(ended_at=Now())
    Chore.objects.all().delete()

    archive()

    assert len(rows_in_database(job)) == 1


def test_the_history_of_a_kind_that_is_not_installed_leaves_too():
    old_chore()
    Attempt.objects.update(kind="../gone.Kind")

    assert archive()["attempts"] == 1

    [name] = stored_files()
    assert name.startswith("archive/_._gone.Kind/")


@pytest.mark.parametrize("state", [State.STORED, State.FAILED, State.UNKNOWN])
def test_ended_calls_whose_answers_are_gone_leave_with_their_sums(state):
    job = old_chore()
    old_call(job, state, **gone(days=100, seen=True))
    old_call(job, state, **gone(days=100, seen=True))
    rows = rows_in_database(job)

    assert archive() == {"files": 1, "attempts": 1, "calls": 2}  # the day of the job's end

    assert_once({job: rows})
    sums = CallTotal.objects.get()
    assert (sums.provider, sums.kind, sums.state) == ("shop:model", "testapp.Chore", state)
    assert (sums.number, sums.cost) == (2, Decimal("0.08"))


@pytest.mark.parametrize(
    "columns",
    [
        {"state": State.STORED},  # its answer is kept
        {"state": State.STORED, "answer_expired": True},  # its file is not deleted yet
        {"state": State.WAITING, **gone()},
        {"state": State.INTENT, **gone()},
        {"state": State.UNKNOWN, **gone()},  # no person has seen it
        {"state": State.FAILED, **gone(days=20)},
    ],
)
def test_calls_that_may_still_matter_stay(columns):
    job = old_chore()
    old_call(job, **columns)

    archive()

    assert Call.objects.count() == 1
    assert not CallTotal.objects.exists()


def test_calls_that_leave_later_get_a_file_of_their_own():
    job = old_chore()
    call = old_call(job, days=40)
    rows = rows_in_database(job)
    archive()
    Call.objects.filter(pk=call.pk).update(
        answer_expired=True, answer_size=None, started_at=Now() - timedelta(days=100)
    )

    archive()

    job.refresh_from_db()
    assert len(job.log_ref.split()) == 2
    assert_once({job: rows})


def test_one_kind_and_one_day_per_file():
    jobs = [old_chore(f"chore {days}", days=days) for days in (40, 41, 50)]
    jobs.append(old_chore("another", days=40))
    rows = {job: rows_in_database(job) for job in jobs}

    archive()

    assert len(stored_files()) == 3
    for content in stored_files().values():
        explanation, *others = lines(content)
        assert {line["kind"] for line in others} == {explanation["kind"]}
    assert_once(rows)


def test_a_long_history_is_cut_into_files_and_members(monkeypatch):
    monkeypatch.setattr(files, "FILE_ROWS", 4)
    monkeypatch.setattr(files, "MEMBER_ROWS", 3)
    monkeypatch.setattr(leaving, "PAGE", 2)
    monkeypatch.setattr(leaving, "ROWS", 2)
    jobs = [old_chore(f"chore {number}", failures=2) for number in range(3)]
    rows = {job: rows_in_database(job) for job in jobs}

    archive()

    assert not Attempt.objects.exists()
    assert_once(rows)


def test_a_job_requeued_between_read_and_delete_keeps_its_rows(monkeypatch):
    requeued, other = old_chore("requeued"), old_chore("other")
    rows = {job: rows_in_database(job) for job in (requeued, other)}
    keep = archiving.keep

    def requeue_then_keep(file):
        keep(file)
        queue.requeue(Chore.objects.filter(pk=requeued.pk))

    monkeypatch.setattr(archiving, "keep", requeue_then_keep)

    assert archive()["attempts"] == 1

    assert_once(rows)
    assert rows_in_files(requeued) == []
    assert len(rows_in_files(other)) == 1


def test_a_job_that_ended_again_between_read_and_delete_keeps_its_rows(monkeypatch, worker):
    job = old_chore()
    keep = archiving.keep

    def run_again_then_keep(file):
        keep(file)
        queue.requeue(Chore.objects.all())
        worker.succeed(worker.claim_one())
        age(job, 0)
        Chore.objects.update(finished_at=F("finished_at") - timedelta(days=40))

    monkeypatch.setattr(archiving, "keep", run_again_then_keep)

    assert archive() == {}
    assert len(rows_in_database(job)) == 2


def test_a_call_that_changed_between_read_and_delete_keeps_its_job(monkeypatch):
    job = old_chore()
    old_call(job, State.FAILED, **gone(days=100))
    keep = archiving.keep

    def change_then_keep(file):
        keep(file)
        Call.objects.update(cost=F("cost") + Decimal("0.01"))

    monkeypatch.setattr(archiving, "keep", change_then_keep)
    rows = rows_in_database(job)

    assert archive() == {}
    assert_once({job: rows})

    monkeypatch.setattr(archiving, "keep", keep)
    archive()
    assert_once({job: rows})
    assert CallTotal.objects.get().cost > Decimal("0.04")


@pytest.mark.postgres
def test_a_locked_job_is_left_for_the_next_run():
    locked, other = old_chore("locked"), old_chore("other")
    rows = {job: rows_in_database(job) for job in (locked, other)}

    with elsewhere(lambda: list(Chore.objects.filter(pk=locked.pk).select_for_update())):
        assert archive()["attempts"] == 1
        assert rows_in_files(locked) == []
    assert archive()["attempts"] == 1

    assert_once(rows)


def test_it_stops_when_it_is_told_to():
    job = old_chore()

    assert dict(archiving.archive(archiving.Ages.now(), lambda: False)) == {}

    assert rows_in_database(job)


def test_a_queued_job_of_the_same_kind_is_not_touched():
    old_chore()
    waiting = new_chore("waiting")

    archive()

    waiting.refresh_from_db()
    assert (waiting.status, waiting.log_ref) == ("queued", None)
