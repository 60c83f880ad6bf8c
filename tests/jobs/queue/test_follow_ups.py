"""Jobs that lead to jobs: exactly once, with their origin, trace and process."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import transaction

from jobs import llm, queue, tracing
from jobs.errors import PermanentError
from jobs.llm.models import LLMJob
from jobs.models import Process, Status
from jobs.paid.batches.models import Batch
from jobs.queue import processes
from jobs.worker import logs
from jobs.worker.loop import Loop
from jobs.worker.options import Options
from tests.jobs.conftest import expire_lease, make_due, new_chore
from tests.jobs.histories import losing
from tests.jobs.processes import wait_until
from tests.jobs.running import running
from tests.testapp.models import Chore, Digest

pytestmark = pytest.mark.django_db(transaction=True)

PAGE = (Path(__file__).parents[3] / "docs" / "jobs.md").read_text()
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
TRACEPARENT = f"00-{TRACE}-00f067aa0ba902b7-01"


@pytest.fixture
def follows(monkeypatch):
    """Let a successful chore enqueue a digest."""
    monkeypatch.setattr(Chore, "on_success", lambda self, result: enqueue_digest())


def enqueue_digest(**columns):
    return queue.enqueue([Digest(**columns)])


def start(**columns):
    process = processes.start("week")
    queue.enqueue([Chore(name="sweep", process_id=process.pk, **columns)])
    processes.seal(process)
    return process


def traces(*models):
    return {tracing.trace_of(job.trace) for model in models for job in model.objects.all()}


# Exactly once


def test_a_follow_up_is_there_with_the_success(worker, chore, follows):
    worker.succeed(worker.claim_one())

    assert Digest.objects.get().parent_id == chore.pk
    assert Chore.objects.get().status == Status.SUCCEEDED


def test_with_a_settlement_that_is_rolled_back_nothing_follows(worker, chore, follows):
    with transaction.atomic():
        worker.succeed(worker.claim_one())
        transaction.set_rollback(True)

    assert not Digest.objects.exists()


def test_a_worker_that_lost_its_lease_leads_to_nothing(worker, slow_worker, chore, follows):
    late = slow_worker.claim_one()
    expire_lease(late)
    queue.rescue(Chore)
    assert slow_worker.succeed(late) != []
    assert not Digest.objects.exists()

    make_due(chore)
    worker.succeed(worker.claim_one())
    slow_worker.succeed(late)

    assert Digest.objects.count() == 1


@pytest.mark.parametrize("lost", ["reply", "commit"])
def test_a_lost_reply_or_commit_leads_to_one(worker, chore, follows, lost):
    job = worker.claim_one()
    with losing(lost):
        worker.succeed(job)

    worker.succeed(job)

    assert Digest.objects.count() == 1
    assert Chore.objects.get().status == Status.SUCCEEDED


def test_a_failed_attempt_leads_to_nothing(worker, chore, follows):
    worker.fail(worker.claim_one(), ValueError())

    assert not Digest.objects.exists()


def test_a_job_that_is_run_again_leads_to_another_one(worker, chore, follows):
    worker.succeed(worker.claim_one())
    queue.requeue(Chore.objects.all())
    worker.succeed(worker.claim_one())

    assert [job.parent_id for job in Digest.objects.all()] == [chore.pk] * 2


def test_a_hook_that_raises_after_it_leads_to_nothing(worker, chore, monkeypatch):
    def enqueue_and_raise(self, result):
        enqueue_digest()
        raise PermanentError("after all, no")

    monkeypatch.setattr(Chore, "on_success", enqueue_and_raise)

    worker.succeed(worker.claim_one())

    assert not Digest.objects.exists()


def test_giving_up_and_canceling_may_lead_to_something_too(worker, monkeypatch):
    monkeypatch.setattr(Chore, "on_failure", lambda self, error: enqueue_digest(topic="failed"))
    monkeypatch.setattr(Chore, "on_cancel", lambda self: enqueue_digest(topic="canceled"))
    failed, canceled = new_chore("a"), new_chore("b")

    worker.fail(worker.claim_one(), PermanentError("no"))
    queue.cancel(Chore.objects.filter(pk=canceled.pk))

    found = set(Digest.objects.values_list("topic", "parent_id"))
    assert found == {("failed", failed.pk), ("canceled", canceled.pk)}


# What goes along


def test_from_a_hook_the_trace_and_the_process_go_along(worker, follows):
    process = start(trace=TRACEPARENT)

    worker.succeed(worker.claim_one())

    assert Digest.objects.get().process_id == process.pk
    assert traces(Chore, Digest) == {TRACE}
    process.refresh_from_db()
    assert (process.total, process.open, process.ended_at) == (2, 1, None)


def test_from_perform_they_go_along_too(monkeypatch):
    monkeypatch.setattr(Chore, "perform", lambda self, run: enqueue_digest() and None)
    process = start(trace=TRACEPARENT)
    loop = Loop([Chore, Digest], Options(poll=0.05))

    with running(loop):
        wait_until(lambda: Process.objects.exclude(ended_at=None).exists())

    digest = Digest.objects.get()
    assert (digest.parent_id, digest.process_id) == (Chore.objects.get().pk, process.pk)
    assert traces(Chore, Digest) == {TRACE}


def test_a_job_without_a_trace_is_the_trace_of_what_follows(worker, chore, follows):
    worker.succeed(worker.claim_one())

    assert traces(Digest) == {chore.pk.hex}


def test_a_trace_that_is_none_is_not_handed_on(worker, follows):
    job = new_chore("sweep", trace="an attacker's text")

    worker.succeed(worker.claim_one())

    assert traces(Digest) == {job.pk.hex}


def test_a_follow_up_may_name_its_own_process(worker, monkeypatch):
    own = processes.start("own")
    monkeypatch.setattr(Chore, "on_success", lambda self, result: enqueue_digest(process_id=own.pk))
    start()

    worker.succeed(worker.claim_one())

    assert Digest.objects.get().process_id == own.pk


def test_a_process_that_has_ended_takes_no_follow_up(worker, slow_worker):
    """A run that lost its claim may still enqueue: that must not raise."""
    start()
    late = slow_worker.claim_one()
    queue.cancel(Chore.objects.all())

    with logs.about(late, "slow"):
        enqueue_digest()

    digest = Digest.objects.get()
    assert (digest.parent_id, digest.process_id) == (late.pk, None)


def test_requests_of_a_job_have_their_own_process(worker):
    start(trace=TRACEPARENT)
    job = worker.claim_one()

    with logs.about(job, "w"):
        submitted = llm.submit([{"prompt": "hello"}], label="questions")

    request = LLMJob.objects.get()
    assert (request.process_id, request.parent_id) == (submitted.pk, job.pk)
    assert traces(LLMJob) == {TRACE}


def test_what_follows_a_process_came_from_the_job_that_asked_for_it(worker, chore):
    job = worker.claim_one()
    with logs.about(job, "w"):
        process = processes.start("week", then=Digest())
        processes.seal(process)

    digest = Digest.objects.get()
    assert (digest.parent_id, digest.process_id) == (chore.pk, None)


def test_a_batch_belongs_to_none_of_its_members(worker):
    start(trace=TRACEPARENT)

    with logs.about(worker.claim_one(), "w"):
        Batch.objects.collect_soon("gemini:flash")

    batch = Batch.objects.get()
    assert (batch.parent_id, batch.process_id, batch.trace) == (None, None, None)


def test_outside_of_a_job_there_is_no_origin(chore):
    assert (chore.parent_id, chore.process_id, chore.trace) == (None, None, None)


def test_what_one_hook_leaves_does_not_reach_the_next(worker, monkeypatch):
    """Many jobs are settled in one transaction, each on its own behalf."""
    jobs = [new_chore(name) for name in "ab"]
    monkeypatch.setattr(Chore, "on_success", lambda self, result: enqueue_digest(topic=self.name))

    worker.succeed(*worker.claim(slots=2))
    enqueue_digest(topic="after")

    found = dict(Digest.objects.values_list("topic", "parent_id"))
    assert found == {"a": jobs[0].pk, "b": jobs[1].pk, "after": None}


# The example of the page


def test_the_example_caps_and_dedupes_as_the_page_says(worker, monkeypatch):
    example = re.search(r"## Follow-ups.*?```python\n(.*?)```", PAGE, re.DOTALL)[1]
    names = {"queue": queue, "timedelta": timedelta, "Article": Digest}
    exec(example, names)
    monkeypatch.setattr(Chore, "on_success", names["on_success"])
    for name in ("monday", "tuesday"):
        new_chore(name)
    first, second = worker.claim(slots=2)

    worker.succeed(first, result={"a": 1, "b": 4, "c": 3, "d": 2})
    assert set(Digest.objects.values_list("topic", flat=True)) == {"b", "c", "d"}
    worker.succeed(*worker.claim(Digest, slots=3))
    worker.succeed(second, result={"b": 9, "e": 8, "a": 7, "c": 6})

    assert set(Digest.objects.values_list("topic", flat=True)) == {"a", "b", "c", "d", "e"}
    assert Digest.objects.count() == 5
