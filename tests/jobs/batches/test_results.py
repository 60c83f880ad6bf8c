"""Lines in any order, doubled, missing, with errors; batches that end early."""

import pytest

from jobs import queue
from jobs.errors import BadRequest, BatchTooLarge
from jobs.models import Call, Outcome, State, Status
from jobs.paid import answers, ledger
from jobs.paid.batches import asked
from jobs.paid.batches.models import Batch
from tests.jobs.batches.conftest import orders, perform_all, provider, step
from tests.testapp.models import Order


def finish(bureau, lines=None, **how):
    bureau.lines = lines
    bureau.finish(**how)
    return step()


def test_lines_may_come_in_any_order_and_twice(bureau):
    orders("lamp", "chair")
    step()
    finish(bureau, lambda lines: [*reversed(lines), *lines])

    assert {end.result for end in perform_all(Order)} == {b"lamp!", b"chair!"}
    assert provider().spent == 2 * provider().cost(batch=True)


def test_a_missing_line_is_unknown_and_asked_for_again(bureau):
    orders("lamp", "chair")
    step()
    finish(bureau, lambda lines: lines[1:])

    assert sorted(Call.objects.values_list("state", flat=True)) == [State.STORED, State.UNKNOWN]
    assert provider().spent == 2 * provider().cost(batch=True)
    ends = perform_all(Order)
    assert [end.outcome for end in ends].count(Outcome.SUCCEEDED) == 1
    assert Call.objects.filter(state=State.WAITING).count() == 1


def test_a_line_with_a_fault_of_its_own_fails_its_job_alone(bureau):
    orders("lamp", "chair")
    step()
    finish(bureau, lambda lines: [lines[0], {"key": lines[1]["key"], "error": "bad"}])

    perform_all(Order)

    assert Order.objects.get(name="lamp").status == Status.SUCCEEDED
    failed = Order.objects.get(name="chair")
    assert (failed.status, failed.error_kind) == (Status.FAILED, "BadRequest")
    assert provider().spent == provider().cost(batch=True)


def test_a_line_that_was_not_billed_goes_into_the_next_batch(bureau):
    orders("lamp", "chair")
    step()
    finish(bureau, lambda lines: [lines[0], {"key": lines[1]["key"], "error": "busy"}])
    perform_all(Order)
    step()  # the next batch
    finish(bureau)

    [end] = perform_all(Order)

    assert end.result == b"chair!"
    assert bureau.billed == {"lamp": 1, "chair": 1}


def test_an_unbilled_line_does_not_go_round_for_ever(bureau):
    orders("lamp")
    for _ in range(5):
        step()
        finish(bureau, lambda lines: [{"key": lines[0]["key"], "error": "busy"}])
        assert provider().paused_until is not None
        type(provider()).objects.update(paused_until=None, faults=0)

    [end] = perform_all(Order)

    assert "busy" in str(end.error)
    assert Order.objects.get().status == Status.FAILED
    assert provider().spent == 0


@pytest.mark.parametrize("state", ["expired", "cancelled"])
def test_the_finished_part_of_a_batch_that_was_cut_short_is_used(bureau, state):
    orders("lamp", "chair")
    step()
    finish(bureau, lambda lines: lines[:1], state=state)

    assert [end.result for end in perform_all(Order)] == [b"lamp!"]
    assert Call.objects.filter(state=State.WAITING).count() == 1
    assert provider().spent == provider().cost(batch=True)


def test_a_batch_that_expired_without_results_goes_again(bureau):
    orders("lamp", "chair")
    step()
    finish(bureau, lambda lines: [], state="expired")

    assert Call.objects.filter(state=State.WAITING).count() == 2
    assert provider().spent == 0
    assert Batch.objects.living().count() == 1


def test_token_limits_found_after_creation_halve_the_next_batch(bureau):
    orders("a", "b", "c", "d")
    step()
    bureau.remote = {"error": BatchTooLarge(reason="token_limit_exceeded")}
    finish(bureau, lambda lines: [], state="failed")
    bureau.remote = {}
    assert (provider().paused_until is not None, provider().spent) == (True, 0)
    type(provider()).objects.update(paused_until=None, faults=0)
    step()

    assert [len(batch["prompts"]) for batch in bureau.batches.values()] == [4, 2]


def test_one_bad_line_is_its_jobs_fault_and_the_rest_goes_again(bureau):
    orders("a", "b", "c")
    step()
    bureau.remote = {"error": BadRequest("line 2 is wrong"), "bad_line": 2}
    finish(bureau, lambda lines: [], state="failed")
    bureau.remote = {}
    [end] = perform_all(Order)
    step()

    assert (end.job.name, "line 2" in str(end.error)) == ("b", True)
    assert list(bureau.batches["batch-2"]["prompts"].values()) == ["a", "c"]


def test_a_state_that_is_not_known_is_polled_on(bureau):
    orders("lamp")
    step()
    bureau.batches["batch-1"]["state"] = "meditating"
    end = step()

    assert end.outcome == Outcome.SNOOZED
    assert Batch.objects.get().state == "meditating"


def test_a_batch_that_is_gone_pauses_the_provider_and_is_kept(bureau):
    orders("lamp")
    step()
    gone = bureau.batches.pop("batch-1")
    end = step()

    assert end.outcome == Outcome.UNAVAILABLE
    assert provider().paused
    assert Call.objects.get().state == State.INTENT
    bureau.batches["batch-1"] = gone  # the right key is back
    finish(bureau)
    assert len(Order.objects.due()) == 1


def test_a_worker_that_dies_while_handing_out_hands_out_the_rest_later(bureau, monkeypatch):
    orders("lamp", "chair", "table")
    step()
    bureau.finish()
    mark, marked = answers.mark_stored, []

    def die(call, answer):
        if len(marked) == 1:
            raise RuntimeError("the disk is full")
        marked.append(call)
        mark(call, answer)

    monkeypatch.setattr(answers, "mark_stored", die)
    step()
    monkeypatch.setattr(answers, "mark_stored", mark)
    step()

    assert len(perform_all(Order)) == 3
    assert provider().spent == 3 * provider().cost(batch=True)
    assert bureau.requests["download"] == 1


def test_results_are_stored_before_anything_is_made_of_them(bureau, monkeypatch):
    orders("lamp")
    step()
    bureau.finish()
    monkeypatch.setattr(bureau, "results", lambda *_: 1 / 0)
    step()

    assert Batch.objects.get().file.startswith("batches/")
    assert answers._read(Batch.objects.get().file).count(b"lamp!") == 1


def test_an_answer_overrules_a_person_who_was_told_that_it_was_not_billed(bureau):
    orders("lamp")
    step()
    Call.objects.update(state=State.UNKNOWN)
    assert ledger.was_not_billed(Call.objects.get())
    assert provider().spent == 0
    finish(bureau)

    assert Call.objects.get().state == State.STORED
    assert provider().spent == provider().cost(batch=True)
    assert [end.result for end in perform_all(Order)] == [b"lamp!"]


def test_the_usage_of_a_line_corrects_its_price(bureau):
    type(provider()).objects.update(price=0, input_price=2, output_price=10)
    orders("lamp")
    step()
    tokens = {"input_tokens": 100, "output_tokens": 50}
    finish(bureau, lambda lines: [{**lines[0], "tokens": tokens}])

    assert provider().spent == provider().cost(100, 50, batch=True)


def test_a_requeued_job_may_ask_again_after_its_line_was_refused(bureau):
    orders("lamp")
    step()
    finish(bureau, lambda lines: [{"key": lines[0]["key"], "error": "bad"}])
    perform_all(Order)
    queue.requeue(Order.objects.all())
    perform_all(Order)
    step()
    finish(bureau)

    assert [end.result for end in perform_all(Order)] == [b"lamp!"]


def test_a_fault_of_the_account_in_the_lines_pauses_the_provider_and_fails_no_job(bureau):
    orders("lamp")
    step()
    finish(bureau, lambda lines: [{"key": lines[0]["key"], "error": "no credit"}])

    assert provider().paused
    assert Call.objects.get().state == State.WAITING
    assert provider().spent == 0
    assert Order.objects.get().status == Status.QUEUED


def test_a_batch_that_is_gone_is_given_up_by_canceling_it(bureau):
    orders("lamp")
    step()
    bureau.batches.clear()
    step()
    asked.cancel(Batch.objects.get())
    step()

    assert Batch.objects.get().status == Status.FAILED
    assert Call.objects.get().state == State.UNKNOWN
    assert Order.objects.due().count() == 1


@pytest.mark.parametrize("line", [None, 0, 99])
def test_a_bad_line_that_is_not_named_is_found_by_smaller_batches(bureau, line):
    orders("a", "b")
    step()
    bureau.remote = {"error": BadRequest("something is wrong"), "bad_line": line}
    finish(bureau, lambda lines: [], state="failed")
    step()
    finish(bureau, lambda lines: [], state="failed")
    bureau.remote = {}

    assert [len(batch["prompts"]) for batch in bureau.batches.values()] == [2, 1]
    [end] = perform_all(Order)
    assert "something is wrong" in str(end.error)
