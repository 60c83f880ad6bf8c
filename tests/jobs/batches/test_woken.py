"""A job whose call has ended is woken, whatever it does at that moment."""

import threading
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.db.models.functions import Now

from jobs import queue
from jobs.errors import BatchGone, InBatch, Snooze
from jobs.llm.models import LLMJob
from jobs.models import Call, Outcome, Provider, State, Status
from jobs.paid import answers
from jobs.paid.batches import asked, collecting, handing_out, members
from jobs.paid.batches.models import Batch
from jobs.paid.clients import Answer
from jobs.paid.clients.batch import Result
from tests.jobs.batches.conftest import orders, perform_all, provider, step, workers
from tests.jobs.conftest import LEASE
from tests.jobs.orders import order, run_of
from tests.testapp.models import Order


def claim_and_join():
    """A job that has left or found its call, and is not settled yet."""
    [job] = queue.claim(Order, 1, next(workers), LEASE)
    with pytest.raises(InBatch) as waits:
        job.perform(run_of(job))
    return queue.outcomes.from_error(job, waits.value)


def test_a_job_that_is_hurried_before_it_has_settled_does_not_sleep_on(bureau):
    order("lamp")
    unsettled = claim_and_join()
    asked.hurry(Call.objects.all())
    assert step().outcome == Outcome.SNOOZED  # it comes back for that job
    queue.settle([unsettled])
    assert Order.objects.due().count() == 0
    step()

    assert [end.outcome for end in perform_all(Order)] == [Outcome.SUCCEEDED]
    assert bureau.requests["create"] == 0


def test_a_later_run_that_found_its_call_in_the_batch_is_woken_when_it_has_settled(bureau):
    orders("lamp")
    step()
    Order.objects.update(run_after=Now())  # as after a day, or after a cancel and a requeue
    unsettled = claim_and_join()
    bureau.finish()
    step()
    queue.settle([unsettled])
    assert Order.objects.due().count() == 0
    step()

    assert Order.objects.due().count() == 1
    assert Batch.objects.get().status == Status.SUCCEEDED


def test_a_job_whose_only_line_was_bad_is_woken_when_it_has_settled(bureau):
    order("unspeakable")
    unsettled = claim_and_join()
    step()
    queue.settle([unsettled])
    step()

    [end] = perform_all(Order)

    assert "can't be said" in str(end.error)


def test_a_paid_answer_is_fetched_although_the_budget_is_spent(bureau):
    Provider.objects.update(daily_budget=provider().cost(batch=True))
    orders("lamp")
    step()
    bureau.finish()
    step()
    assert provider().left_today == 0

    assert [end.outcome for end in perform_all(Order)] == [Outcome.SUCCEEDED]


def test_a_batch_that_is_done_without_results_is_looked_at_again_and_then_unknown(bureau):
    orders("lamp")
    step()
    bureau.lines = lambda lines: []
    bureau.finish(state="completed")
    assert step().wait <= timedelta(minutes=1)
    step()
    assert Call.objects.get().state == State.INTENT
    Batch.objects.update(missed_since=Now() - timedelta(minutes=5))
    step()

    assert Call.objects.get().state == State.UNKNOWN
    assert provider().spent == provider().cost(batch=True)
    assert Order.objects.due().count() == 1


def test_a_canceled_batch_that_has_answers_but_no_results_yet_is_not_bought_again(bureau):
    orders("lamp")
    step()
    bureau.lines, bureau.remote = lambda lines: [], {"done": 1}
    bureau.finish(state="cancelled")
    step()

    assert Call.objects.get().state == State.INTENT


def test_results_that_are_gone_pause_the_provider_until_a_person_has_looked(bureau):
    orders("lamp")
    step()
    bureau.finish()
    bureau.faults["download"] = BatchGone(reason="No such file.")
    end = step()

    assert end.wait.total_seconds() >= 600
    assert provider().paused


def test_answers_are_handed_out_a_few_megabytes_at_a_time():
    def lines():
        for number in range(5):
            yield Result(key=str(number), answer=Answer(raw=bytes(10 * 1024 * 1024)))

    assert [len(chunk) for chunk in handing_out._chunks(lines())] == [2, 2, 1]


def test_a_request_knows_the_batch_it_is_in():
    [id] = queue.enqueue([LLMJob(request_json={"prompt": "lamp"})])
    call = Call(kind=LLMJob._meta.label, job_id=id, provider="p", epoch=1, key="k", number=1)
    call.deadline = provider().now
    call.save()

    members.note_remote(Call.objects.all(), "batch-1")
    assert LLMJob.objects.get().batch_job_id == "batch-1"

    members.note_remote(Call.objects.all(), "")
    assert LLMJob.objects.get().batch_job_id is None


def test_collecting_loads_no_request(bureau):
    orders("lamp", "chair")

    calls = collecting._candidates(Batch.objects.get())

    assert [call.get_deferred_fields() for call in calls] == [{"request"}] * 2


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_a_job_whose_row_is_locked_is_woken_when_it_is_free(bureau):
    orders("lamp")
    step()
    bureau.finish()
    locked, looked = threading.Event(), threading.Event()

    def hold():
        with transaction.atomic():
            list(Order.objects.select_for_update())
            locked.set()
            looked.wait(60)
        connection.close()

    other = threading.Thread(target=hold)
    other.start()
    locked.wait(60)
    end = step()
    looked.set()
    other.join()
    assert (end.outcome, Order.objects.due().count()) == (Outcome.SNOOZED, 0)
    step()

    assert Order.objects.due().count() == 1
    assert Batch.objects.get().status == Status.SUCCEEDED


def test_a_job_whose_answer_comes_while_it_looks_for_it_buys_no_other(bureau, monkeypatch):
    orders("lamp")
    step()
    bureau.finish()
    adopt = answers.adopt

    def meanwhile(*arguments):
        step()  # the batch hands its answer out
        return adopt(*arguments)

    Order.objects.update(run_after=Now())
    [job] = queue.claim(Order, 1, next(workers), LEASE)
    monkeypatch.setattr(answers, "adopt", meanwhile)
    with pytest.raises(Snooze):
        job.perform(run_of(job))

    assert Call.objects.count() == 1
