"""The database or the storage is away while a batch is under way."""

import shutil

import pytest

from jobs.llm.models import LLMJob
from jobs.paid.batches.models import Batch
from tests.jobs import databases
from tests.jobs.batches import offices
from tests.jobs.batches.offices import JOBS, has_reached, hurry, waiting_at
from tests.jobs.databases import crash
from tests.jobs.processes import start, wait_until

__all__ = ["start"]  # fixtures
pytestmark = [pytest.mark.long, pytest.mark.django_db(transaction=True), pytest.mark.postgres]
cluster, office = databases.cluster, offices.office

HOLDING = {
    "polling": ("jobs.paid.batches.polling._look", 1),
    "handing out": ("jobs.paid.batches.handing_out._end", 3),
}


@pytest.mark.parametrize(("where", "call"), HOLDING.values(), ids=HOLDING.keys())
def test_postgresql_restarts_in_the_middle_of_a_batch(cluster, office, start, where, call):
    office.submit(4)
    worker = start(*JOBS, before=waiting_at(where, call), gate=True)
    wait_until(lambda: hurry() or has_reached(worker))

    crash(cluster)
    worker.open_gate()
    wait_until(lambda: "The database can't be used" in worker.log)
    cluster.start()
    wait_until(office.all_ended)

    office.assert_all_answered_and_billed_once(4)
    assert office.provider.spent == office.price_of_all
    assert office.vendor.asked["create"] == 1
    assert Batch.objects.get().attempts == 0


@pytest.mark.parametrize("name", ["batches", "calls"])
def test_a_storage_that_refuses_writes_loses_no_result_and_buys_none_again(
    start, office, tmp_path, name
):
    office.submit(3)
    office.vendor.finish_after = None
    worker = start(*JOBS)
    wait_until(lambda: office.vendor.created)
    folder = tmp_path / "answers" / name
    folder.parent.mkdir(exist_ok=True)
    folder.write_text("not a folder")  # refuses writes even to root

    office.vendor.complete_all()
    wait_until(lambda: hurry() or Batch.objects.filter(error_kind__startswith="Storage").exists())
    folder.unlink()
    type(office.provider).objects.update(paused=False, paused_until=None)
    wait_until(office.all_ended)

    office.assert_all_answered_and_billed_once(3)
    assert office.provider.spent == office.price_of_all
    assert not worker.has_ended
    assert Batch.objects.get().attempts == 0
    assert not LLMJob.objects.filter(attempts__gt=0).exists()
    shutil.rmtree(tmp_path / "answers")
