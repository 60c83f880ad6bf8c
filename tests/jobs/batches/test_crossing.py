"""A batch crossed by cancels, a changed strategy, a small budget, and runs not yet settled."""

from decimal import Decimal

import pytest

from jobs import queue
from jobs.models import Call, Outcome, Provider, State, Status, Strategy
from jobs.paid.batches import asked, members
from jobs.paid.batches.models import Batch
from tests.jobs.batches.conftest import orders, perform_all, perform_due, provider, step, workers
from tests.jobs.conftest import LEASE
from tests.jobs.orders import order, run_of
from tests.testapp.models import Order


def test_a_job_canceled_while_it_waits_is_left_out(bureau):
    orders("lamp", "chair")
    queue.cancel(Order.objects.filter(name="chair"))
    step()

    assert list(bureau.batches["batch-1"]["prompts"].values()) == ["lamp"]
    assert Call.objects.filter(state=State.FAILED).count() == 1


def test_the_answer_of_a_job_canceled_in_a_running_batch_is_stored_and_found_later(bureau):
    orders("lamp")
    step()
    queue.cancel(Order.objects.all())
    bureau.finish()
    step()
    assert Order.objects.get().status == Status.CANCELED
    assert Call.objects.get().state == State.STORED

    queue.requeue(Order.objects.all())

    assert [end.result for end in perform_all(Order)] == [b"lamp!"]
    assert bureau.billed == {"lamp": 1}


def test_an_operator_cancels_a_batch_and_what_is_finished_is_used(bureau):
    orders("lamp", "chair")
    step()
    bureau.lines = lambda lines: lines[:1]
    assert asked.cancel(Batch.objects.get())
    step()

    assert [end.result for end in perform_all(Order)] == [b"lamp!"]
    assert bureau.requests["cancel"] == 1
    assert Call.objects.filter(state=State.WAITING).count() == 1


def test_a_batch_can_not_be_canceled_as_other_jobs_are(bureau):
    orders("lamp")
    step()

    assert queue.cancel(Batch.objects.all()) == []
    assert Batch.objects.get().status == Status.QUEUED


def test_waiting_calls_are_made_at_once_when_the_strategy_changes(bureau):
    orders("lamp", "chair")
    Provider.objects.update(strategy=Strategy.SYNC)
    step()

    assert [end.outcome for end in perform_all(Order)] == [Outcome.SUCCEEDED] * 2
    assert bureau.requests["create"] == 0
    assert provider().spent == 2 * provider().cost()


def test_a_job_that_chose_a_batch_stays_with_it(bureau):
    Provider.objects.update(strategy=Strategy.SYNC)
    orders("lamp", strategy="batch")
    step()

    assert list(bureau.batches["batch-1"]["prompts"].values()) == ["lamp"]


def test_a_job_that_chose_to_be_at_once_waits_for_no_batch():
    order("lamp", strategy="sync")

    assert perform_due(Order).outcome == Outcome.SUCCEEDED


def test_a_person_makes_the_rest_at_once(bureau):
    orders("lamp", "chair")

    assert asked.hurry(Call.objects.all()) == 2

    assert [end.outcome for end in perform_all(Order)] == [Outcome.SUCCEEDED] * 2
    step()
    assert bureau.requests["create"] == 0


def test_calls_in_a_running_batch_are_not_bought_beside_it(bureau):
    orders("lamp")
    step()
    assert asked.hurry(Call.objects.all()) == 0
    Provider.objects.update(strategy=Strategy.SYNC)
    Order.objects.update(run_after=members.Now())

    [end] = perform_all(Order)

    assert end.outcome == Outcome.SNOOZED
    assert Call.objects.count() == 1


def test_a_budget_for_three_of_ten_sends_three(bureau):
    Provider.objects.update(daily_budget=Decimal("0.07"))  # 0.02 each in a batch
    orders(*"abcdefghij")
    step()
    bureau.finish()
    Batch.objects.filter(collected_at=None).update(run_after=members.Now())
    assert sum(len(batch["prompts"]) for batch in bureau.batches.values()) == 3
    assert provider().spent == Decimal("0.06")

    Provider.objects.update(daily_budget=None)
    while Batch.objects.living().exists():
        step()
        for id, batch in bureau.batches.items():
            if batch["state"] == "in_progress":
                bureau.finish(id)

    assert len(perform_all(Order)) == 10
    assert set(bureau.billed.values()) == {1}


def test_a_budget_that_is_spent_meanwhile_sends_nothing(bureau, monkeypatch):
    orders("lamp")
    Provider.objects.update(daily_budget=Decimal("0.02"))
    upload = bureau.upload

    def spend(*arguments):
        Provider.objects.update(spent=Decimal("0.01"), spent_on=provider().today)
        return upload(*arguments)

    monkeypatch.setattr(bureau, "upload", spend)
    step()

    assert bureau.requests["create"] == 0
    assert Call.objects.uncollected().count() == 1
    assert Batch.objects.filter(collected_at=None).count() == 1  # for tomorrow


def test_a_job_whose_run_has_not_settled_yet_is_woken_when_it_has(bureau):
    order("lamp")
    [job] = queue.claim(Order, 1, next(workers), LEASE)
    with pytest.raises(Exception, match="in a batch") as waits:
        job.perform(run_of(job))
    step()
    bureau.finish()
    end = step()
    assert end.outcome == Outcome.SNOOZED  # it comes back for that job

    queue.settle([queue.outcomes.from_error(job, waits.value)])
    assert Order.objects.due().count() == 0
    step()

    assert Order.objects.due().count() == 1
    assert Batch.objects.get().status == Status.SUCCEEDED


def test_interruptions_between_polls_do_not_add_up(bureau):
    orders("lamp")
    step()
    Batch.objects.update(interruptions=1)
    step()

    assert Batch.objects.get().interruptions == 0


def test_a_failed_batch_goes_on_where_it_stopped(bureau, monkeypatch):
    orders("lamp")
    step()
    bureau.finish()
    results = bureau.results
    monkeypatch.setattr(bureau, "results", lambda *_: 1 / 0)
    for _ in range(3):
        step()
    assert Batch.objects.get().status == Status.FAILED
    monkeypatch.setattr(bureau, "results", results)

    queue.requeue(Batch.objects.all())
    step()

    assert [end.result for end in perform_all(Order)] == [b"lamp!"]
    assert bureau.billed == {"lamp": 1}
