"""A creation whose record a failover lost is found again and adopted."""

import pytest

from jobs import queue
from jobs.errors import NoBatches, ProviderUnavailable
from jobs.models import Attempt, Call, Outcome, State
from jobs.paid.batches import members
from jobs.paid.batches.models import Batch
from tests.jobs.batches.conftest import orders, perform, perform_all, provider, reopen, step
from tests.testapp.models import Order


def test_a_twin_of_the_batch_is_canceled(bureau):
    forget_creations(bureau, "older", "younger")
    perform(Batch)

    assert Batch.objects.get().remote_id == "older"
    assert bureau.batches["younger"]["state"] == "cancelled"
    assert bureau.requests["create"] == 0


def forget_creations(bureau, *names):
    """A batch of which an earlier run created these, but a failover lost the record."""
    orders("lamp")
    bureau.faults["upload"] = ProviderUnavailable(30, "busy")
    step()
    reopen()
    Batch.objects.update(token="t")
    for name in names:
        bureau.batches[name] = {"token": "t", "prompts": {}, "state": "in_progress"}


def test_a_forgotten_creation_is_adopted_whatever_is_left_of_the_budget(bureau):
    forget_creations(bureau, "older")
    members.Provider.objects.update(daily_budget=0)
    queue.cancel(Order.objects.all())
    step()

    assert Batch.objects.get().remote_id == "older"
    assert provider().spent == provider().cost(batch=True)


def test_a_list_that_does_not_exist_means_that_there_are_no_batches(bureau):
    forget_creations(bureau)
    bureau.faults["find"] = NoBatches(reason="404 for /batches")
    step()

    assert "404" in provider().batch_note
    assert [end.outcome for end in perform_all(Order)] == [Outcome.SUCCEEDED]


@pytest.mark.parametrize("forgotten", [{}, {"epoch": 0}], ids=["the creation", "its claim too"])
def test_a_creation_that_a_failover_forgot_is_not_repeated(bureau, forgotten):
    orders("lamp")
    step()
    Batch.objects.update(create_sent_at=None, remote_id="", submitted_at=None, **forgotten)
    Attempt.objects.all().delete()
    Call.objects.update(state=State.WAITING)
    members.Provider.objects.update(spent=0)
    step()

    assert bureau.requests["create"] == 1
    assert provider().spent == provider().cost(batch=True)
