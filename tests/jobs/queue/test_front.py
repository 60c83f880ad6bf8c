"""An old snapshot is open elsewhere: what was queued since stays in the indexes, dead."""

import math
import threading
from contextlib import contextmanager
from datetime import timedelta
from itertools import count
from unittest.mock import Mock

import pytest
from django.db import OperationalError, connection, transaction
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext

from jobs import queue
from jobs.db import clock
from jobs.db.compiled import Updated
from jobs.models import Status
from jobs.queue import claims, front
from jobs.queue.front import Front
from jobs.worker.loop import Loop
from jobs.worker.options import Options
from tests.jobs.conftest import LEASE, elsewhere, new_chore
from tests.jobs.plans import pages_read
from tests.testapp.models import Chore, NoopJob

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres]

ENDED = 10_000
FEW = 60  # pages; the dead entries are on several hundred


@pytest.fixture
def slow(monkeypatch):
    """Every scan from the beginning counts as slow, and is not repeated before the test ends."""
    monkeypatch.setattr(front, "CHEAP", 0.0)
    monkeypatch.setattr(front, "EACH", 0.0)
    monkeypatch.setattr(front, "SHARE", math.inf)
    monkeypatch.setattr(front, "LONGEST", math.inf)


@pytest.fixture
def kept():
    return Front()


@contextmanager
def many_dead():
    """Many jobs have ended since a snapshot that is still open, and statistics know of them."""
    with elsewhere(hold_snapshot):
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO noop_jobs (id, run_after) SELECT gen_random_uuid(),"
                f" now() - interval '1 hour' FROM generate_series(1, {ENDED}) AS n"
            )
            cursor.execute(
                "UPDATE noop_jobs SET status = 'processing', locked_by = 'w', locked_at = now(),"
                " lease_expires_at = now() + interval '1 h'"
            )
            cursor.execute(
                "UPDATE noop_jobs SET status = 'succeeded', locked_by = NULL, locked_at = NULL,"
                " lease_expires_at = NULL, finished_at = now()"
            )
            cursor.execute("VACUUM ANALYZE noop_jobs")
        yield


def hold_snapshot():
    with connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        cursor.execute("SELECT 1 FROM noop_jobs")


def claim(model, slots, kept):
    return queue.claim(model, slots, "me", LEASE, front=kept)


def names(model, slots, kept):
    return [job.name for job in claim(model, slots, kept)]


def test_dead_entries_cost_neither_look_nor_claim_nor_beat_nor_settle(slow, worker):
    with many_dead():
        loop = Loop([NoopJob], Options())
        loop.lookout.schedules_at = math.inf
        loop.look()  # from the beginning, once
        kept = loop.lookout.fronts[NoopJob]

        def work():
            loop.lookout.hurry(0)
            loop.look()
            queue.enqueue(NoopJob() for _ in range(10))
            jobs = claim(NoopJob, 10, kept)
            queue.beat(NoopJob, {job.id: job.epoch for job in jobs}, "me", LEASE)
            worker.succeed(*jobs)

        with transaction.atomic():
            read = pages_read(work)

    assert NoopJob.objects.filter(status=Status.SUCCEEDED).count() == ENDED + 10
    assert len(read) > 6
    # An insert or update touches the pages of all indexes.
    assert {sql[:60]: pages for sql, pages in read.items() if pages > 10 * FEW} == {}
    selects = {sql: pages for sql, pages in read.items() if sql.startswith("SELECT")}
    assert {sql: pages for sql, pages in selects.items() if pages > FEW} == {}


def test_a_claim_begins_where_the_last_one_ended(slow, kept):
    queue.enqueue(Chore(name=str(number)) for number in range(6))
    Chore.objects.update(run_after=Now() - timedelta(hours=1))

    claimed = [name for _ in range(3) for name in names(Chore, 2, kept)]

    assert sorted(claimed) == ["0", "1", "2", "3", "4", "5"]
    assert kept.is_resting


def test_what_is_new_and_more_urgent_still_goes_first(slow, kept):
    queue.enqueue(Chore(name=str(number)) for number in range(4))
    claim(Chore, 2, kept)
    new_chore("urgent", priority=-1)

    assert names(Chore, 2, kept)[0] == "urgent"
    assert len(claim(Chore, 5, kept)) == 1


def test_a_job_before_the_front_is_found_by_the_next_scan_from_the_beginning(slow, kept):
    claim(Chore, 1, kept)
    new_chore("from the past")
    Chore.objects.update(run_after=Now() - timedelta(hours=1))

    assert claim(Chore, 1, kept) == []
    kept.until = -math.inf  # its pause is over
    assert names(Chore, 1, kept) == ["from the past"]


def test_a_claim_that_was_rolled_back_moves_no_front(slow, kept, monkeypatch):
    queue.enqueue(Chore(name=str(number)) for number in range(2))

    with monkeypatch.context() as patch:
        patch.setattr(claims, "_is_one_statement", lambda _: False)
        patch.setattr(claims, "_move", Mock(side_effect=OperationalError("the connection is lost")))
        with pytest.raises(OperationalError):
            claim(Chore, 1, kept)

    assert names(Chore, 2, kept) == ["0", "1"]


def test_nothing_is_asked_after_the_commit_of_a_claim(slow, kept, chore):
    """A fault there would lose the jobs that were claimed."""
    with CaptureQueriesContext(connection) as sent:
        claim(Chore, 1, kept)

    assert kept.is_resting
    assert "RETURNING" in sent[-1]["sql"]


def test_nothing_is_asked_after_the_commit_of_a_claim_with_hooks(slow, kept, chore, monkeypatch):
    monkeypatch.setattr(Chore, "on_start", lambda _: None)
    with CaptureQueriesContext(connection) as sent:
        claim(Chore, 1, kept)

    assert kept.is_resting
    assert sent[-1]["sql"] == "COMMIT"


def test_a_slow_commit_is_no_slow_scan(monkeypatch, kept, chore):
    """With a synchronous standby, each commit may take longer than a scan ever should."""
    ticks = count(step=100)
    monkeypatch.setattr(front.time, "monotonic", lambda: float(next(ticks)))
    monkeypatch.setattr(front, "CHEAP", 30.0)
    queue.enqueue([NoopJob()])

    assert len(claim(NoopJob, 1, kept)) == 1

    assert kept.since is None


def test_many_jobs_hide_no_slow_search(kept):
    now = clock.now()
    found = {"run_after": now, "created_at": now, "locked_at": now}
    jobs = [NoopJob(**found) for _ in range(500)]

    scan = kept.scan(NoopJob.objects.all(), 500, lambda _: Updated(jobs, 2 * front.CHEAP))

    assert scan.pause > 0


def test_a_quick_scan_always_begins_at_the_beginning(monkeypatch, kept):
    monkeypatch.setattr(front, "CHEAP", math.inf)
    claim(Chore, 1, kept)
    new_chore("from the past")
    Chore.objects.update(run_after=Now() - timedelta(hours=1))

    assert names(Chore, 1, kept) == ["from the past"]


def test_many_claimers_with_fronts_leave_nothing_behind(slow):
    queue.enqueue(NoopJob(priority=number % 3) for number in range(300))

    def claim_all():
        kept = Front()
        while jobs := claim(NoopJob, 7, kept):
            claimed.extend(job.id for job in jobs)
        connection.close()

    claimed = []
    threads = [threading.Thread(target=claim_all) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(claimed) == len(set(claimed)) == 300
