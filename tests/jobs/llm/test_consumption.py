"""Results are taken away once, in the consumer's transaction."""

import threading
from contextlib import suppress
from uuid import uuid4

import pytest
from django.db import connection, transaction

from jobs import llm, queue
from jobs.llm.models import LLMJob
from jobs.models import Attempt, Call, Process
from tests.jobs.conftest import elsewhere, in_another_thread
from tests.jobs.llm.conftest import claim, raw, work
from tests.testapp.models import Chore, Effect

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def process(quill):
    """Three requests, of which all have ended."""
    process = submit("a", "b", "c")
    work()
    return process


def submit(*texts):
    return llm.submit([{"prompt": text} for text in texts], label="Words")


def said(jobs):
    return [job.response_json["text"] for job in jobs]


def keep(answers):
    Effect.objects.bulk_create(Effect(job_id=a.id, result=a.response_json["text"]) for a in answers)


ALL = ["You said: a", "You said: b", "You said: c"]


# Looking


def test_results_are_those_that_have_ended_in_their_order(quill):
    process = submit("a", "b", "c")
    first, _, third = sorted(claim(), key=lambda job: job.position)
    queue.cancel(LLMJob.objects.filter(id=third.id))
    queue.cancel(LLMJob.objects.filter(id=first.id))

    assert [job.id for job in llm.results(process.id)] == [first.id, third.id]
    assert [job.id for job in llm.results(str(process.id))] == [first.id, third.id]


def test_looking_takes_nothing_away(process):
    assert said(llm.results(process.id)) == said(llm.results(process.id)) == ALL


def test_an_unknown_process_has_no_results():
    assert llm.results(uuid4()) == []
    with llm.consume(uuid4()) as answers:
        assert answers == []
    with pytest.raises(Process.DoesNotExist):
        llm.progress(uuid4())


def test_progress_is_one_query(process, django_assert_num_queries):
    with django_assert_num_queries(1):
        progress = llm.progress(process.id)

    assert (progress.total, progress.open, progress.ended, progress.percent) == (3, 0, 3, 100)


# Taking


def test_what_is_consumed_is_gone(process):
    with llm.consume(process.id) as answers:
        assert said(answers) == ALL
        keep(answers)

    assert Effect.objects.count() == 3
    assert not LLMJob.objects.exists()
    with llm.consume(process.id) as answers:
        assert answers == []


def test_money_and_history_stay(process):
    with llm.consume(process.id):
        pass

    assert Call.objects.count() == Attempt.objects.count() == 3
    assert llm.progress(process.id).succeeded == 3


def test_a_block_that_raises_takes_nothing(process):
    with suppress(RuntimeError), llm.consume(process.id) as answers:
        keep(answers)
        raise RuntimeError

    assert not Effect.objects.exists()
    assert said(llm.results(process.id)) == ALL


def test_the_consumers_own_transaction_decides(process):
    with suppress(RuntimeError), transaction.atomic():
        with llm.consume(process.id) as answers:
            keep(answers)
        raise RuntimeError

    assert not Effect.objects.exists()
    assert said(llm.results(process.id)) == ALL


def test_a_consumer_may_leave_its_block_early(process):
    def take():
        with llm.consume(process.id) as answers:
            return said(answers)

    assert take() == ALL
    assert not LLMJob.objects.exists()


def test_only_ended_requests_are_taken(quill):
    process = submit("a", "b")
    queue.cancel(LLMJob.objects.filter(position=0))

    with llm.consume(process.id) as answers:
        [taken] = answers

    assert taken.position == 0
    assert LLMJob.objects.get().position == 1


def test_a_failed_request_says_why(quill):
    process = submit("a")
    quill.reply = raw("", finish="refused", refusal="not nice")
    work()

    with llm.consume(process.id) as [answer]:
        assert (answer.state, answer.response_json) == ("FAILED", None)
        assert answer.error_message == "The model refused to answer: not nice"


def test_another_process_is_left_alone(process, quill):
    other = submit("d")
    work()

    with llm.consume(other.id) as answers:
        assert said(answers) == ["You said: d"]

    assert said(llm.results(process.id)) == ALL


def test_a_consumer_can_ask_again_for_one_answer(process):
    with llm.consume(process.id) as answers:
        queue.requeue(LLMJob.objects.filter(id=answers[1].id))

    assert [(job.position, job.status) for job in LLMJob.objects.all()] == [(1, "queued")]
    assert llm.progress(process.id).open == 1


def test_consumers_that_start_at_once_share_no_row(quill):
    process = submit(*"abcdefghij")
    work()
    together = threading.Barrier(3)

    def take():
        together.wait()
        with llm.consume(process.id) as answers:
            keep(answers)
        connection.close()

    threads = [threading.Thread(target=take) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    kept = Effect.objects.values_list("job_id", flat=True)
    assert len(kept) == len(set(kept)) == 10
    assert not LLMJob.objects.exists()


@pytest.mark.postgres
def test_rows_that_another_consumer_holds_are_skipped(process):
    first = LLMJob.objects.get(position=1)

    def take_one():
        list(LLMJob.objects.filter(id=first.id).select_for_update())

    with elsewhere(take_one), llm.consume(process.id) as answers:
        assert said(answers) == [ALL[0], ALL[2]]

    assert said(llm.results(process.id)) == [ALL[1]]


@pytest.mark.postgres
def test_while_one_consumer_works_the_other_gets_nothing(process):
    def take():
        with llm.consume(process.id) as answers:
            return said(answers)

    with llm.consume(process.id) as answers:
        assert in_another_thread(take) == []
        assert said(answers) == ALL


def test_a_request_that_is_being_consumed_can_not_be_requeued_any_more(process):
    with llm.consume(process.id):
        pass

    assert queue.requeue(LLMJob.objects.all()) == []
    assert llm.progress(process.id).open == 0


# Canceling


def test_cancel_ends_all_living_jobs_of_any_kind(quill):
    process = submit("a", "b", "c")
    queue.enqueue([Chore(name="sweep", process_id=process.id), Chore(name="of nobody")])
    claim(slots=1)

    assert llm.cancel(process.id) == 4

    process.refresh_from_db()
    assert (process.open, process.canceled) == (0, 4)
    assert process.ended_at
    assert Chore.objects.get(name="of nobody").status == "queued"


def test_cancel_leaves_what_has_ended(process):
    assert llm.cancel(process.id) == 0
    assert said(llm.results(process.id)) == ALL


def test_cancel_ends_a_process_whose_jobs_were_deleted_past_the_queue():
    process = submit("a", "b")
    LLMJob.objects.filter(position=1)._raw_delete("default")

    assert llm.cancel(process.id) == 1

    assert llm.progress(process.id).ended_at


def test_canceling_an_unknown_process_does_nothing():
    assert llm.cancel(uuid4()) == 0
