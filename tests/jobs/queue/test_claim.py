import threading
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext

from jobs import queue
from jobs.models import Status
from tests.jobs.conftest import LEASE, in_another_thread, new_chore
from tests.testapp.models import Chore, NoopJob

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_claimed_job_is_held_by_its_worker(worker, chore):
    job = worker.claim_one()

    row = Chore.objects.get()
    assert (row.status, row.locked_by, row.epoch) == (Status.PROCESSING, "fast", 1)
    assert row.lease_expires_at - row.locked_at == LEASE
    assert (job.id, job.epoch, job.status) == (row.id, 1, Status.PROCESSING)


def test_a_job_is_claimed_once(worker, slow_worker, chore):
    assert len(slow_worker.claim()) == 1
    assert worker.claim() == []


def test_no_more_jobs_are_claimed_than_there_are_slots(worker):
    queue.enqueue(Chore(name=str(number)) for number in range(5))

    assert len(worker.claim(slots=3)) == 3
    assert Chore.objects.due().count() == 2


def test_lower_priorities_go_first_then_the_older(worker):
    new_chore("third")
    new_chore("first", priority=-1)
    new_chore("fourth", priority=1)
    Chore.objects.filter(name="third").update(run_after=Now() - timedelta(seconds=1))
    new_chore("second", priority=-1)

    names = [worker.claim_one().name for _ in range(4)]

    assert names == ["first", "second", "third", "fourth"]


def test_a_job_waits_for_its_moment(worker, chore):
    Chore.objects.update(run_after=Now() + timedelta(seconds=5))

    assert worker.claim() == []


def test_a_suspect_is_claimed_only_by_who_asks_for_suspects(worker, chore):
    Chore.objects.update(interruptions=2)

    assert worker.claim() == []
    assert len(worker.claim(suspect=True)) == 1


@pytest.mark.postgres
def test_rows_that_somebody_else_is_claiming_are_stepped_past(worker):
    queue.enqueue(Chore(name=str(number)) for number in range(4))

    with transaction.atomic():
        mine = {job.id for job in worker.claim(slots=2)}
        theirs = {job.id for job in in_another_thread(lambda: worker.claim(slots=4))}

    assert (len(mine), len(theirs)) == (2, 2)
    assert not mine & theirs


def test_many_claimers_share_the_jobs_without_overlap():
    queue.enqueue(NoopJob() for _ in range(200))

    def claim_all(name):
        while jobs := queue.claim(NoopJob, 7, name, LEASE):
            claimed.extend(job.id for job in jobs)
        connection.close()

    claimed = []
    threads = [threading.Thread(target=claim_all, args=[str(n)]) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(claimed) == len(set(claimed)) == 200


@pytest.mark.postgres
def test_a_claim_limits_how_long_it_can_hold_its_locks(worker, chore):
    with CaptureQueriesContext(connection) as sent:
        worker.claim()

    assert "'statement_timeout', '10000'" in sent[-1]["sql"]


@pytest.mark.postgres
@pytest.mark.parametrize("number", [1, 50])
def test_a_claim_without_hook_and_provider_is_one_statement(worker, number):
    queue.enqueue([NoopJob() for _ in range(2 * number)])
    worker.claim(NoopJob, slots=number)  # compiles it

    with CaptureQueriesContext(connection) as sent:
        claimed = worker.claim(NoopJob, slots=number)

    assert (len(claimed), len(sent)) == (number, 1)


@pytest.mark.postgres
def test_a_claim_in_a_callers_transaction_leaves_its_limits_alone(worker):
    queue.enqueue([NoopJob()])

    with transaction.atomic():
        assert worker.claim(NoopJob)
        assert limit_of_idleness() == "0"


REFUSE_ONE = """
    CREATE FUNCTION pg_temp.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE integrity_constraint_violation USING MESSAGE = 'not this one'; END $$;
    CREATE TRIGGER refuse BEFORE UPDATE ON noop_jobs FOR EACH ROW
        WHEN (NEW.status = 'processing' AND NEW.id = '{id}') EXECUTE FUNCTION pg_temp.refuse()
"""


@pytest.mark.postgres
def test_a_job_that_a_constraint_keeps_from_being_claimed_keeps_no_other(worker):
    refused, *others = queue.enqueue([NoopJob() for _ in range(3)])
    with connection.cursor() as cursor:
        cursor.execute(REFUSE_ONE.format(id=refused))
        try:
            claimed = worker.claim(NoopJob, slots=3)
        finally:
            cursor.execute("DROP FUNCTION pg_temp.refuse CASCADE")

    assert {job.id for job in claimed} == set(others)
    assert NoopJob.objects.get(id=refused).status == Status.QUEUED


@pytest.mark.postgres
def test_a_claim_with_hooks_limits_how_long_it_can_be_idle(worker, chore, monkeypatch):
    limits = []
    monkeypatch.setattr(Chore, "on_start", lambda _: limits.append(limit_of_idleness()))

    worker.claim()

    assert limits == ["4s"]
    assert limit_of_idleness() == "0"


def limit_of_idleness():
    with connection.cursor() as cursor:
        cursor.execute("SHOW idle_in_transaction_session_timeout")
        return cursor.fetchone()[0]


@pytest.mark.postgres
def test_the_claim_reads_its_own_index_and_no_later_jobs():
    with connection.cursor() as cursor, transaction.atomic():
        cursor.execute(
            "INSERT INTO noop_jobs (id, run_after)"
            " SELECT gen_random_uuid(), now() + interval '1 day' FROM generate_series(1, 20000)"
        )
        cursor.execute("ANALYZE noop_jobs")
        due = NoopJob.objects.due().trusted().in_turn()
        plan = due.select_for_update(skip_locked=True)[:8].explain(analyze=True, buffers=True)

    assert "noopjob_claim" in plan
    assert int(plan.split("shared hit=")[1].split()[0]) < 20
