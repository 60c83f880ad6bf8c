import threading
from decimal import Decimal

import pytest
from django.db import connection, transaction

from guides.derived.commissions import maker_of
from guides.derived.models import Commission
from jobs import llm, queue
from jobs.llm.models import LLMJob
from jobs.models import Call, Outcome, Process, Status
from tests.guides.derived.keeping import claim, keeper, kept, perform, state, work
from tests.jobs import processes
from tests.jobs.llm.conftest import raw
from tests.jobs.processes import wait_until
from tests.testapp.keeping import KeepLines, ask_for_lines

start = processes.start
pytestmark = pytest.mark.usefixtures("writer")
BOTH = [(0, "succeeded"), (1, "succeeded")]


def test_all_answers_are_kept_and_the_requests_disappear():
    commission = ask_for_lines("one", "two", plan_id="kyoto", by="mika")
    work()
    work(KeepLines)

    assert kept() == BOTH
    assert state() == "kept"
    assert not LLMJob.objects.exists()
    commission.refresh_from_db()
    assert (commission.requests, commission.failed, commission.made_by) == (2, 0, "quill")
    assert commission.cost == Decimal("0.02")
    assert commission.kept_at > commission.created_at


def test_a_keeper_that_runs_again_after_its_commit_keeps_nothing_more():
    ask_for_lines("one", "two")
    work()
    [job] = claim(KeepLines)
    perform(job)  # its worker dies before it is settled

    KeepLines.objects.update(lease_expires_at=job.created_at)
    queue.rescue(KeepLines)
    KeepLines.objects.update(run_after=job.created_at)

    assert work(KeepLines) == [Outcome.SUCCEEDED]
    assert kept() == BOTH


@pytest.mark.postgres
def test_of_two_runs_at_once_one_keeps():
    ask_for_lines("one", "two")
    work()
    [job] = claim(KeepLines)

    def run():
        perform(job)
        connection.close()

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert kept() == BOTH


@pytest.mark.long
def test_a_worker_killed_between_keeping_and_settling_keeps_once(start):
    ask_for_lines("one", "two")
    work()
    victim = start(gate=True)
    wait_until(lambda: len(kept()) == 2)
    assert keeper().status == Status.PROCESSING
    victim.kill()
    victim.expire(KeepLines)

    start()
    wait_until(lambda: keeper().status == Status.SUCCEEDED)

    assert kept() == BOTH
    assert state() == "kept"


def test_a_request_requeued_before_the_keeper_runs_is_waited_for():
    ask_for_lines("one", "two")
    work()
    queue.requeue(LLMJob.objects.filter(position=1))

    assert work(KeepLines) == [Outcome.SNOOZED]
    assert kept() == []
    assert LLMJob.objects.count() == 2
    work()
    KeepLines.objects.update(run_after=keeper().created_at)
    work(KeepLines)
    assert kept() == BOTH


@pytest.mark.postgres
def test_a_request_that_is_being_requeued_at_this_moment_is_waited_for():
    ask_for_lines("one", "two")
    work()
    is_moved, may_commit = threading.Event(), threading.Event()

    def requeue():
        with transaction.atomic():
            queue.requeue(LLMJob.objects.filter(position=1))
            is_moved.set()
            may_commit.wait(60)
        connection.close()

    thread = threading.Thread(target=requeue)
    thread.start()
    assert is_moved.wait(60)
    outcomes = work(KeepLines)
    may_commit.set()
    thread.join()

    assert outcomes == [Outcome.SNOOZED]
    assert kept() == []
    assert LLMJob.objects.count() == 2


def test_the_longer_a_request_is_waited_for_the_rarer_are_the_looks():
    ask_for_lines("one")
    work()
    job = keeper()

    assert job.patience_with_requests() == 10
    job.created_at = job.created_at.replace(year=2020)
    assert job.patience_with_requests() == 300


def test_failed_and_canceled_requests_are_among_the_answers(writer):
    ask_for_lines("one", "two", "three")
    queue.cancel(LLMJob.objects.filter(position=2))
    LLMJob.objects.filter(position=1).update(max_attempts=1)
    [one, two] = sorted(claim(LLMJob), key=lambda job: job.position)
    ends = [perform(one)]
    writer.reply = raw("", finish="refused")
    queue.settle([*ends, perform(two)])
    work(KeepLines)

    assert kept() == [(0, "succeeded"), (1, "failed"), (2, "canceled")]
    commission = Commission.objects.get()
    assert (commission.failed, commission.made_by) == (2, "quill")
    assert commission.cost == Decimal("0.02")


def test_the_calls_of_earlier_tries_are_part_of_the_cost(writer):
    ask_for_lines("one")
    good, writer.reply = writer.reply, raw("no JSON")
    work()
    LLMJob.objects.update(run_after=LLMJob.objects.get().created_at)
    writer.reply = good
    work()
    work(KeepLines)

    assert Call.objects.count() == 2
    assert Commission.objects.get().cost == Decimal("0.02")


def test_a_call_that_is_under_way_when_its_request_is_canceled_counts_as_booked(writer):
    ask_for_lines("one")
    [job] = claim(LLMJob)
    call = writer.write
    writer.write = lambda *told: (llm.cancel(job.process_id), call(*told))[1]
    perform(job)  # its answer comes after the cancel
    Call.objects.update(state="intent", finished_at=None)
    work(KeepLines)

    assert kept() == [(0, "canceled")]
    assert Commission.objects.get().cost == Decimal("0.01")


def test_a_failed_request_has_no_maker_although_it_was_answered_once():
    answered = {"provider": "quill"}

    assert maker_of(LLMJob(status=Status.SUCCEEDED, response_json=answered)) == "quill"
    assert maker_of(LLMJob(status=Status.FAILED, response_json=answered)) == ""


def test_a_keeper_that_gives_up_leaves_everything_and_can_be_requeued():
    ask_for_lines("one", "two", script="fail")
    work()
    assert work(KeepLines) == [Outcome.FAILED]
    assert state() == "gave up"
    assert kept() == []
    assert LLMJob.objects.count() == 2
    assert Commission.objects.get().kept_at is None

    KeepLines.objects.update(script="")
    queue.requeue(KeepLines.objects.all())
    assert state() == "waiting"
    work(KeepLines)

    assert kept() == BOTH
    assert state() == "kept"


def test_after_a_canceled_process_the_keeper_still_runs():
    commission = ask_for_lines("one", "two")
    llm.cancel(commission.pk)
    work(KeepLines)

    assert kept() == [(0, "canceled"), (1, "canceled")]
    assert Process.objects.get().ended_at


def test_a_keeper_canceled_before_it_runs_says_so_and_keeps_nothing():
    ask_for_lines("one")
    work()
    [job] = claim(KeepLines)
    queue.cancel(KeepLines.objects.all())
    perform(job)  # its thread has not heard of it yet

    assert state() == "gave up"
    assert kept() == []


def test_a_keeper_canceled_after_it_has_kept_has_not_given_up():
    ask_for_lines("one")
    work()
    [job] = claim(KeepLines)
    perform(job)
    queue.cancel(KeepLines.objects.all())
    assert state() == "kept"

    queue.requeue(KeepLines.objects.all())
    assert state() == "kept"
    work(KeepLines)
    assert kept() == [(0, "succeeded")]


def test_requests_that_staff_deleted_are_not_among_the_answers():
    ask_for_lines("one", "two")
    work()
    LLMJob.objects.filter(position=0).delete()
    work(KeepLines)

    assert kept() == [(1, "succeeded")]


def test_nothing_asked_for_is_kept_too():
    ask_for_lines()
    work(KeepLines)

    assert Commission.objects.get().kept_at
