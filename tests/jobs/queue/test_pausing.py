"""A paused kind of job: nothing of it is claimed, and nothing of it is lost."""

from datetime import timedelta

import pytest
from django.db import connection
from django.db.models.functions import Now

from jobs import queue
from jobs.db import clock
from jobs.errors import ProviderUnavailable
from jobs.models import Pause, Status
from jobs.paid import waiting
from jobs.paid.waiting import Reason
from jobs.queue import pausing
from jobs.worker import survey
from jobs.worker.loop import Loop
from jobs.worker.options import Options
from tests.jobs import processes
from tests.jobs.conftest import expire_lease, make_due, new_chore
from tests.jobs.processes import wait_until
from tests.testapp.models import Chore, NoopJob

pytestmark = pytest.mark.django_db(transaction=True)

start = processes.start
KIND = "testapp.Chore"


def in_an_hour():
    return clock.now() + timedelta(hours=1)


def pause(until=None, reason="repairs"):
    return pausing.pause(KIND, reason, until, by="ada")


def let_it_end():
    Pause.objects.update(until=Now() - timedelta(seconds=1))


# Pause and resume


def test_no_job_of_a_paused_kind_is_claimed_and_others_are(worker, chore):
    queue.enqueue([NoopJob()])
    pause()

    assert worker.claim(Chore) == []
    assert len(worker.claim(NoopJob)) == 1


def test_after_the_resume_they_are_claimed(worker, chore):
    pause()

    assert pausing.resume(KIND, by="ada")
    assert worker.claim_one().pk == chore.pk


def test_a_pause_with_an_end_is_over_by_itself(worker, chore):
    pause(in_an_hour())
    assert worker.claim(Chore) == []

    let_it_end()

    assert worker.claim_one().pk == chore.pk


def test_a_running_job_goes_on(worker, chore):
    job = worker.claim_one()
    pause()

    assert worker.succeed(job) == []
    assert Chore.objects.get().status == Status.SUCCEEDED


def test_new_jobs_are_accepted_and_wait(worker):
    pause()

    new_chore("later")

    assert worker.claim(Chore) == []
    assert Chore.objects.get().status == Status.QUEUED


def test_an_abandoned_job_is_rescued_and_waits(worker, chore):
    expire_lease(worker.claim_one())
    pause()

    assert len(queue.rescue(Chore)) == 1

    make_due(chore)
    assert Chore.objects.get().status == Status.QUEUED
    assert worker.claim(Chore) == []


def test_a_suspect_waits_too(worker, chore):
    Chore.objects.update(interruptions=2)
    pause()

    assert worker.claim(Chore, suspect=True) == []
    assert survey.ask([Chore], "nobody").suspect == []


def test_a_paused_job_can_be_canceled_and_requeued(chore):
    pause()

    queue.cancel(Chore.objects.all())
    queue.requeue(Chore.objects.all())

    assert Chore.objects.get().status == Status.QUEUED


# Two pauses


def test_a_shorter_pause_does_not_replace_a_longer_one():
    pause(reason="repairs")

    assert not pausing.pause(KIND, "lunch", in_an_hour())
    row = Pause.objects.get()
    assert (row.until, row.reason) == (None, "repairs")


def test_a_longer_pause_replaces_a_shorter_one_and_keeps_its_beginning():
    pause(in_an_hour(), "lunch")
    since = Pause.objects.get().created_at

    assert pause(reason="repairs")
    row = Pause.objects.get()
    assert (row.until, row.reason, row.by, row.created_at) == (None, "repairs", "ada", since)


def test_a_pause_after_one_that_is_over_begins_now():
    pause(in_an_hour())
    Pause.objects.update(created_at=Now() - timedelta(days=1))
    before = Pause.objects.get().created_at
    let_it_end()

    assert pause(in_an_hour())
    assert Pause.objects.get().created_at > before


def test_resuming_what_is_not_paused_changes_nothing():
    assert not pausing.resume(KIND)
    pause(in_an_hour())
    let_it_end()
    until = Pause.objects.get().until

    assert not pausing.resume(KIND)
    assert Pause.objects.get().until == until


def test_an_unknown_kind_is_refused_with_the_known_ones():
    for act in (lambda: pausing.pause("testapp.Chor", "x"), lambda: pausing.resume("testapp.Chor")):
        with pytest.raises(
            ValueError, match=r"no kind of job 'testapp.Chor'. Known: .*testapp.Chore"
        ):
            act()
    assert not Pause.objects.exists()


# Patience


@pytest.mark.parametrize("has_end", [True, False])
def test_patience_with_a_provider_does_not_count_the_pause(worker, chore, has_end):
    worker.fail(worker.claim_one(), ProviderUnavailable(retry_after=1))
    Chore.objects.update(unavailable_since=Now() - timedelta(hours=23))
    pause(in_an_hour() if has_end else None)
    if not has_end:
        pausing.resume(KIND)

    since = Chore.objects.annotate(now=Now()).get()
    assert since.now - since.unavailable_since < timedelta(hours=1)


# What it waits for


def test_a_queued_job_says_so_whatever_else_it_waits_for(chore):
    Chore.objects.update(run_after=in_an_hour())
    job = Chore.objects.get()
    pause()

    wait = waiting.waits_for(job, None, waiting.pause_of(Chore))

    assert (wait.reason, wait.until, wait.note) == (Reason.KIND_PAUSED, None, "repairs")
    assert wait.text == "this kind of job is paused"


def test_an_ended_job_waits_for_nothing(worker, chore):
    worker.succeed(worker.claim_one())
    pause()

    assert waiting.waits_for(Chore.objects.get(), None, waiting.pause_of(Chore)) is None


# Workers


def test_a_worker_that_drains_ends_although_paused_jobs_wait(start):
    new_chore("paused")
    queue.enqueue([NoopJob()])
    pause()

    worker = start("--drain")

    assert worker.exit_code() == 0
    assert Chore.objects.get().status == Status.QUEUED
    assert NoopJob.objects.get().status == Status.SUCCEEDED


def test_a_running_worker_takes_them_up_when_they_are_resumed(start):
    pause()
    worker = start()
    new_chore("waits")
    wait_until(lambda: worker.is_listed)

    pausing.resume(KIND)

    wait_until(lambda: Chore.objects.get().status == Status.SUCCEEDED)


def test_a_look_finds_what_was_lost_before_the_pause_and_nothing_that_is_due(worker, chore):
    new_chore("waits")
    expire_lease(worker.claim_one())
    pause()

    found = survey.ask([Chore], "me")

    assert (found.due, found.expired) == ([], [Chore])


# The queries


@pytest.fixture
def many_queued():
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO noop_jobs (id, run_after)"
            " SELECT gen_random_uuid(), now() - interval '1 day' FROM generate_series(1, 100000)"
        )
        cursor.execute("ANALYZE noop_jobs")


def plan_of(act):
    """How PostgreSQL performs the last query about these jobs, and how many pages it reads."""
    seen = []

    def watch(run, sql, parameters, *rest):
        if 'FROM "noop_jobs"' in sql:
            seen.append((sql, parameters))
        return run(sql, parameters, *rest)

    with connection.execute_wrapper(watch):
        act()
    statement, parameters = seen[0]
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS) {statement}", parameters)
        plan = "\n".join(line for (line,) in cursor.fetchall())
    return plan, int(plan.split("shared hit=")[1].split()[0])


@pytest.mark.few(1)
@pytest.mark.postgres
@pytest.mark.parametrize("is_paused", [False, True])
def test_the_claim_uses_its_index_and_reads_nothing_of_a_paused_kind(
    worker, many_queued, is_paused
):
    if is_paused:
        pausing.pause("testapp.NoopJob", "repairs")

    plan, pages = plan_of(lambda: worker.claim(NoopJob, slots=5))

    assert "noopjob_claim" in plan
    assert "Seq Scan on noop_jobs" not in plan
    assert pages < (10 if is_paused else 100)


@pytest.mark.few(1)
@pytest.mark.postgres
@pytest.mark.parametrize("is_paused", [False, True])
def test_a_look_reads_a_few_pages_however_many_wait(many_queued, is_paused):
    if is_paused:
        pausing.pause("testapp.NoopJob", "repairs")
    worker = Loop([NoopJob], Options())
    worker.heartbeat.beat()

    plan, pages = plan_of(lambda: survey.ask([NoopJob], worker.name))

    assert "Seq Scan on noop_jobs" not in plan
    assert pages < 40
    assert (survey.ask([NoopJob], worker.name).due == []) == is_paused
