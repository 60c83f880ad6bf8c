"""Requests are submitted as one process, in the caller's transaction."""

import threading
from contextlib import suppress
from uuid import UUID, uuid4

import pytest
from django.db import connection, transaction

from jobs import llm
from jobs.errors import ProcessEnded
from jobs.llm import submission
from jobs.llm.models import LLMJob, State
from jobs.models import Process
from jobs.queue import processes
from tests.jobs.llm.conftest import claim, work
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db(transaction=True)


def prompts(*texts):
    return [{"prompt": text} for text in texts]


def positions():
    jobs = LLMJob.objects.order_by("position")
    return [(job.position, job.request_json["prompt"]) for job in jobs]


def test_requests_become_jobs_of_one_sealed_process():
    process = llm.submit(prompts("a", "b"), label="Words")

    assert (process.label, process.total, process.open, process.sealed) == ("Words", 2, 2, True)
    assert isinstance(process.id, UUID)
    assert positions() == [(0, "a"), (1, "b")]
    job = LLMJob.objects.first()
    assert (job.process_id, job.status, job.state) == (process.id, "queued", State.PENDING)
    assert (job.response_json, job.batch_job_id, job.error_message) == (None, None, None)


def test_any_iterable_will_do():
    process = llm.submit(({"prompt": text} for text in "abc"), label="Letters")

    assert process.total == 3


def test_a_large_submission_is_inserted_in_pieces(monkeypatch):
    monkeypatch.setattr(submission, "MOST_ROWS", 3)
    monkeypatch.setattr(submission, "MOST_BYTES", 20)

    llm.submit(prompts(*"abcdefg", "long" * 4, "longer" * 5, "z"), label="Letters")

    assert [position for position, _ in positions()] == list(range(10))
    assert positions()[-1] == (9, "z")


def test_no_request_at_all_ends_at_once_and_what_follows_follows():
    process = llm.submit([], label="Nothing", then=Chore(name="rest"))

    assert process.ended_at
    assert process.percent == 100
    assert Chore.objects.get().name == "rest"


def test_one_wrong_request_keeps_all_out():
    wrong = [*prompts("a", "b"), {"prompt": "c", "color": "red"}]

    with pytest.raises(llm.InvalidRequest, match=r"^requests\[2\]: unknown key 'color'"):
        llm.submit(wrong, label="Words")

    assert not LLMJob.objects.exists()
    assert not Process.objects.exists()


def test_a_wrong_request_after_the_first_piece_keeps_all_out_too(monkeypatch):
    monkeypatch.setattr(submission, "MOST_ROWS", 1)
    with transaction.atomic():
        Chore(name="of the caller").save()

        with pytest.raises(llm.InvalidRequest, match=r"^requests\[2\]"):
            llm.submit([*prompts("a", "b"), {}], label="Words", then=Chore(name="rest"))

    assert not LLMJob.objects.exists()
    assert not Process.objects.exists()
    assert Chore.objects.get().name == "of the caller"


def test_a_callers_rollback_takes_all_back():
    with suppress(RuntimeError), transaction.atomic():
        llm.submit(prompts("a"), label="Words")
        raise RuntimeError

    assert not LLMJob.objects.exists()
    assert not Process.objects.exists()


def test_a_label_is_cleaned():
    process = llm.submit([], label="a\0b\ud800" + "x" * 500)

    assert process.label.startswith("a�b?x")
    assert len(process.label.encode()) <= 200


# process_id


@pytest.mark.parametrize("written", [UUID, str])
def test_the_caller_can_choose_the_id(written):
    id = uuid4()

    process = llm.submit(prompts("a"), label="Words", process_id=written(str(id)))

    assert process.id == id
    assert LLMJob.objects.get().process_id == id


def test_an_open_process_takes_more():
    process = llm.submit(prompts("a", "b"), label="Words")

    again = llm.submit(prompts("c"), label="another label", process_id=str(process.id))

    assert (again.id, again.total, again.open, again.label) == (process.id, 3, 3, "Words")
    assert positions() == [(0, "a"), (1, "b"), (2, "c")]


def test_requests_join_a_process_of_other_jobs_without_sealing_it():
    process = processes.start("mixed")

    joined = llm.submit(prompts("a"), label="", process_id=process.id)

    assert (joined.total, joined.sealed) == (1, False)


def test_an_ended_process_takes_no_more():
    process = llm.submit([], label="Words")

    for more in (prompts("a"), []):
        with pytest.raises(ProcessEnded, match="has ended"):
            llm.submit(more, label="Words", process_id=process.id)

    assert not LLMJob.objects.exists()


def test_what_follows_can_only_be_said_at_the_start():
    process = llm.submit(prompts("a"), label="Words")

    with pytest.raises(ValueError, match="said at its start"):
        llm.submit(prompts("b"), label="", process_id=process.id, then=Chore(name="rest"))

    assert positions() == [(0, "a")]


@pytest.mark.parametrize("wrong", ["", "5", "x" * 36, 5])
def test_an_id_that_is_none_is_refused(wrong):
    for act in (llm.results, llm.progress, llm.cancel):
        with pytest.raises(ValueError, match="is no UUID"):
            act(wrong)
    with pytest.raises(ValueError, match="is no UUID"):
        llm.submit([], label="", process_id=wrong)


def test_two_submissions_to_one_new_process_at_once_both_arrive():
    id = uuid4()
    together = threading.Barrier(2)

    def submit(text):
        together.wait()
        llm.submit(prompts(text), label=text, process_id=id)
        connection.close()

    threads = [threading.Thread(target=submit, args=[text]) for text in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert llm.progress(id).total == 2
    assert sorted(position for position, _ in positions()) == [0, 1]


# The walk


def test_the_last_answer_lets_the_next_job_follow(quill):
    process = llm.submit(prompts("a", "b"), label="Words", then=Chore(name="rest"))

    work()

    assert [job.state for job in LLMJob.objects.all()] == [State.COMPLETED] * 2
    assert llm.progress(process.id).ended_at
    assert Chore.objects.get().name == "rest"


def test_the_four_words_of_the_state(quill):
    llm.submit(prompts("a"), label="Words")
    job = LLMJob.objects.get()
    assert job.state == State.PENDING
    job.batch_job_id = "batches/1"
    assert job.state == State.IN_PROGRESS

    [claimed] = claim()

    assert claimed.state == State.IN_PROGRESS
    llm.cancel(job.process_id)
    job.refresh_from_db()
    assert (job.state, job.error_message) == (State.FAILED, "Canceled with its process.")
