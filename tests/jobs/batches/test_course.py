"""A batch from the first waiting call to the answers of all."""

from decimal import Decimal

from jobs.models import Attempt, Call, Provider, State, Status
from jobs.paid.batches.models import Batch
from tests.jobs.batches.conftest import orders, perform_all, perform_due, provider, step
from tests.jobs.orders import order
from tests.testapp.models import Order


def test_a_call_under_batch_leaves_its_job_without_a_slot_and_costs_nothing_yet():
    [job] = orders("lamp")

    assert job.status == Status.QUEUED
    assert job.attempts == 0
    [call] = Call.objects.all()
    assert (call.state, call.cost) == (State.WAITING, 0)
    assert provider().spent == 0
    assert Batch.objects.get().status == Status.QUEUED


def test_a_batch_brings_the_answers_of_all_its_members_at_half_the_price(bureau):
    orders("lamp", "chair", "table")
    step()  # collects, uploads, creates, polls
    bureau.finish()
    step()  # fetches and hands out

    ends = perform_all(Order)

    assert sorted(end.result for end in ends) == [b"chair!", b"lamp!", b"table!"]
    assert bureau.billed == {"lamp": 1, "chair": 1, "table": 1}
    assert provider().spent == 3 * Decimal("0.02")
    batch = Batch.objects.get()
    assert (batch.status, batch.total, batch.done) == (Status.SUCCEEDED, 3, 3)


def test_calls_join_a_batch_faster_than_they_could_be_made_at_once(bureau):
    Provider.objects.update(requests_per_minute=15, burst=5)
    for number in range(20):
        order(f"lamp {number}")

    assert len(perform_all(Order)) == 20
    assert Call.objects.uncollected().count() == 20


def test_jobs_that_chose_to_be_at_once_keep_the_limits_of_a_provider_with_batches(bureau):
    Provider.objects.update(requests_per_minute=1, burst=2)
    for number in range(4):
        order(f"lamp {number}", strategy="sync")
    perform_due(Order)
    perform_due(Order)

    assert perform_all(Order) == []


def test_the_jobs_of_a_batch_are_due_as_soon_as_its_answers_are_there(bureau):
    orders("lamp")
    step()
    assert perform_all(Order) == []
    bureau.finish()
    step()

    assert len(perform_all(Order)) == 1


def test_a_running_batch_is_polled_ever_more_seldom_and_created_once(bureau):
    orders("lamp")
    waits = [step().wait.total_seconds() for _ in range(12)]

    assert bureau.requests["create"] == 1
    assert 24 <= waits[0] <= 36
    assert 480 <= waits[-1] <= 720
    assert Attempt.objects.filter(kind="jobs.Batch").count() == 12


def test_calls_that_come_while_a_batch_runs_go_into_the_next_one(bureau):
    orders("lamp")
    step()
    orders("chair")

    assert Batch.objects.count() == 2
    assert Call.objects.filter(batch_id=None, state=State.WAITING).count() == 1


def test_more_calls_than_fit_are_split(bureau, settings):
    settings.BATCH_MOST_CALLS = 2
    orders("a", "b", "c")
    step()

    assert [len(batch["prompts"]) for batch in bureau.batches.values()] == [2]
    assert Batch.objects.filter(collected_at=None).count() == 1


def test_a_file_that_would_grow_too_large_is_split(bureau, settings):
    settings.BATCH_MOST_BYTES = 100
    orders("a", "b", "c")
    step()

    assert [len(batch["prompts"]) for batch in bureau.batches.values()] == [1]


def test_a_line_that_can_not_be_written_is_its_own_fault(bureau):
    orders("lamp", "unspeakable")
    step()

    assert list(bureau.batches["batch-1"]["prompts"].values()) == ["lamp"]
    [end] = perform_all(Order)
    assert "can't be said" in str(end.error)
    assert Order.objects.get(name="unspeakable").status == Status.FAILED


def test_a_full_batch_does_not_wait_for_the_end_of_its_time(settings):
    settings.BATCH_MOST_CALLS = 2
    orders("a")
    assert not Batch.objects.due().exists()

    orders("b")

    assert Batch.objects.due().exists()
