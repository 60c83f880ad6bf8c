"""Batches in real worker processes: a day of polling, changed strategies, budgets, pictures."""

import os
import threading
from collections import Counter
from datetime import timedelta
from decimal import Decimal
from functools import partial

import pytest
from django.db.models import F
from django.db.models.functions import Now

from guides.models import SpotDetail
from jobs import llm
from jobs.llm.models import LLMJob
from jobs.models import Attempt, Call, Provider, Strategy
from jobs.paid.batches import pace
from jobs.paid.batches.models import Batch
from tests.guides.conftest import save_guide
from tests.jobs.batches import offices
from tests.jobs.batches.offices import JOBS, end, has_reached, hurry, waiting_at
from tests.jobs.clients import answers
from tests.jobs.processes import enqueue_chores, start, statuses, wait_until

__all__ = ["start"]  # fixtures
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres]
office, openai_office = offices.office, offices.openai_office

HOURS = int(os.environ.get("HOURS", "3"))  # a whole day in `make test-long`


@pytest.mark.long
@pytest.mark.search
def test_a_day_in_which_every_process_is_restarted_each_hour_submits_once(start, office):
    office.vendor.finish_after = None
    office.submit(3)
    day = Day()
    for hour in range(1, HOURS + 1):
        enqueue_chores(1)
        worker = start(*JOBS, "testapp.Chore", "--poll=0.05", slots=1)
        wait_until(partial(day.pass_until, hour))
        wait_until(partial(has_done, hour))  # its only slot was free
        if hour % 2 == 0:
            kill_while_polling(worker, office.vendor)
        else:
            worker.terminate()
            assert worker.exit_code() == 0
    office.vendor.complete_all()
    start(*JOBS)
    wait_until(office.all_ended)

    office.assert_all_answered_and_billed_once(3)
    assert len(office.vendor.created) == office.vendor.asked["create"] == 1
    assert office.provider.spent == office.price_of_all
    batch = Batch.objects.get()
    assert batch.interruptions <= 1  # of those that were killed, the last one
    # A poll at least every 8 minutes once the waits have grown, a few before, one per restart.
    most = HOURS * 3600 / (pace.LONGEST * 0.8) + 10 + 2 * HOURS
    assert Attempt.objects.filter(job_id=batch.id).count() <= most


def kill_while_polling(worker, vendor):
    vendor.hold = threading.Event()
    wait_until(lambda: hurry() or Batch.objects.processing().exists())
    end(worker)
    vendor.hold.set()
    vendor.hold = None


def has_done(chores):
    return statuses()["succeeded"] == chores


class Day:
    """A clock that jumps over the waits between two polls."""

    elapsed = timedelta(0)

    def pass_until(self, hour):
        """Whether this hour has come; one wait is skipped each time."""
        asleep = Batch.objects.filter(status="queued", polls__gt=0, run_after__gt=Now())
        if self.elapsed < timedelta(hours=hour) and (batch := asleep.annotate(now=Now()).first()):
            wait = batch.run_after - batch.now
            self.elapsed += wait
            asleep.update(
                run_after=F("run_after") - wait,
                submitted_at=F("submitted_at") - wait,
                created_at=F("created_at") - wait,
            )
        return self.elapsed >= timedelta(hours=hour) and asleep.exists()


@pytest.mark.long
@pytest.mark.parametrize("to", Strategy.values)
def test_the_strategy_may_change_in_mid_process(start, office, to):
    before = {"sync": "batch", "batch": "sync"}[to]
    Provider.objects.update(strategy=before)
    half = "jobs.paid.batches.joining.join"
    office.submit(6)
    worker = start(*JOBS, before=waiting_at(half, call=4), gate=True, slots=1)
    wait_until(lambda: has_reached(worker))

    Provider.objects.update(strategy=to)
    worker.open_gate()
    wait_until(office.all_ended)

    office.assert_all_answered_and_billed_once(6)
    alone = Counter(office.vendor.paid)
    spent = office.price_of_all
    spent += sum(office.price_of(prompt, batch=False) for prompt in alone)
    assert office.provider.spent == spent
    if to == "batch":
        assert len(alone) == 3


@pytest.mark.long
@pytest.mark.parametrize("step", ["upload", "create"])
def test_a_server_without_batches_is_asked_at_once(start, openai_office, step):
    office = openai_office
    office.vendor.instead[step] = answers.status(404)
    office.submit(4)

    start(*JOBS)
    wait_until(office.all_ended)

    office.assert_all_answered_and_billed_once(4)
    assert "404" in office.provider.batch_note
    assert office.vendor.created == []
    assert office.provider.spent == sum(
        office.price_of(prompt, batch=False) for prompt in office.vendor.paid
    )


@pytest.mark.long
def test_a_budget_for_ten_of_a_hundred_sends_ten_and_the_rest_when_it_is_raised(start, office):
    fixed = {"price": Decimal("0.04"), "input_price": 0, "output_price": 0}
    Provider.objects.update(**fixed, daily_budget=Decimal("0.20"))
    process = office.submit(100)

    start(*JOBS, slots=8)
    wait_until(lambda: hurry() or LLMJob.objects.filter(status="succeeded").count() == 10)
    wait_until(lambda: Call.objects.uncollected().count() == 90)
    assert sum(office.vendor.bought.values()) == 10
    assert office.provider.spent == Decimal("0.20")

    Provider.objects.update(daily_budget=Decimal("2.00"))
    Batch.objects.filter(collected_at=None).update(run_after=Now())
    wait_until(office.all_ended)

    office.assert_all_answered_and_billed_once(100)
    assert office.provider.spent == Decimal("2.00")
    assert llm.progress(process).open == 0


# A picture's call that may be made in a batch.


def test_pictures_come_by_batch_at_half_the_price(start, office, monkeypatch, settings, tmp_path):
    name = "gemini:draws"
    for key, value in {
        "IMAGE_PROVIDER": "gemini",
        "GEMINI_MODEL": "draws",
        "PICTURES_FOLDER": str(tmp_path / "pictures"),
    }.items():
        monkeypatch.setenv(key, value)
    settings.IMAGE_PROVIDER, settings.GEMINI_MODEL = "gemini", "draws"
    Provider.objects.create(
        name=name, requests_per_minute=None, price=Decimal("0.04"), strategy=Strategy.BATCH
    )
    save_guide("Kinkaku-ji", "Ginkaku-ji", "Ryoan-ji")

    start("--jobs", "guides.SpotImageJob", "jobs.Batch")
    ready = SpotDetail.objects.filter(image_status="succeeded")
    wait_until(lambda: hurry() or ready.count() == 3)

    assert all(spot.image_url for spot in ready)
    assert sorted(office.vendor.bought.values()) == [1, 1, 1]
    assert Provider.objects.get(name=name).spent == 3 * Decimal("0.02")
