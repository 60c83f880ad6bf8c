"""A worker that is killed in the middle of archiving: another finishes, and nothing is lost."""

import pytest

from jobs import queue
from jobs.archive.models import Retention
from jobs.models import Archive, Attempt, CallTotal, State
from tests.jobs import processes
from tests.jobs.archive.old import assert_once, gone, old_call, old_chore, rows_in_database
from tests.jobs.processes import prelude, wait_until

pytestmark = [pytest.mark.long, pytest.mark.django_db(transaction=True)]
start = processes.start

JOBS = 12
# Small files, and a pause at each step, so that the kill meets any of them.
SLOWLY = prelude(
    "import time; from jobs.archive import archiving, files; files.FILE_ROWS = 3; "
    "keep, let_go, delete = archiving.keep, archiving.let_go, archiving._delete; "
    "slow = lambda step: lambda *a: (time.sleep(0.05), step(*a), time.sleep(0.05))[1]; "
    "archiving.keep, archiving.let_go, archiving._delete = map(slow, (keep, let_go, delete))"
)


@pytest.fixture
def rows(answers, monkeypatch):
    monkeypatch.setenv("ANSWERS_FOLDER", str(answers))
    jobs = [old_chore(f"chore {number}", failures=1) for number in range(JOBS)]
    for job in jobs:
        old_call(job, State.FAILED, **gone(days=100))
    return {job: rows_in_database(job) for job in jobs}


def test_a_worker_killed_in_the_middle_of_archiving_loses_nothing(rows, start):
    queue.enqueue([Retention()])
    for files in (2, 6):
        victim = start(before=SLOWLY)
        wait_until(lambda files=files: Archive.objects.count() >= files)
        victim.kill()
        assert_once(rows)
        victim.expire(Retention)
        Retention.objects.update(interruptions=0)

    start(before=SLOWLY)
    wait_until(lambda: Retention.objects.filter(status="succeeded").exists())

    assert_once(rows)
    assert not Attempt.objects.exclude(kind="jobs.Retention").exists()
    assert sum(sums.number for sums in CallTotal.objects.all()) == JOBS
    assert "attempts" in Retention.objects.get().progress["text"]


def test_a_stopping_worker_ends_the_run_between_two_files(rows, start):
    queue.enqueue([Retention()])
    worker = start(before=SLOWLY)
    wait_until(Archive.objects.exists)
    worker.terminate()

    assert worker.exit_code() == 0

    assert_once(rows)
    assert Retention.objects.get().status == "succeeded"
    assert Attempt.objects.filter(kind="testapp.Chore").exists()  # for the next run


def test_a_storage_that_is_away_lets_the_run_come_back_later(rows, start, answers):
    answers.write_text("not a folder")
    queue.enqueue([Retention()])

    start()
    wait_until(lambda: Attempt.objects.filter(kind="jobs.Retention").exists())

    job = Retention.objects.get()
    assert (job.status, job.attempts) == ("queued", 0)
    assert "answers" in job.last_error
    assert len(rows_in_database(next(iter(rows)))) == 3
