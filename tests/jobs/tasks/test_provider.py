"""Tasks under the limits of a provider. The claim takes: what a function sends is unseen."""

from collections import Counter
from datetime import timedelta
from decimal import Decimal
from unittest.mock import Mock

import pytest
from django.db import OperationalError
from django.db.models.functions import Now

from jobs.models import Provider, Status
from jobs.paid import breaker, limits, pausing, waiting
from jobs.tasks.models import TaskJob
from jobs.worker.intake import Intake
from tests.testapp import tasks

pytestmark = pytest.mark.django_db


@pytest.fixture
def shop():
    return Provider.objects.create(name="shop:api", requests_per_minute=None)


def ask(number):
    for _ in range(number):
        tasks.ask_shop.enqueue()


def test_a_paused_provider_holds_its_own_tasks_only(work, shop):
    ask(2)
    tasks.add.enqueue(1)
    pausing.pause("shop:api", "closed")

    claimed = work()

    assert [job.task_path for job in claimed] == ["tests.testapp.tasks.add"]
    pausing.resume("shop:api")
    assert len(work()) == 2


def test_no_more_tasks_start_than_there_are_tokens(work, shop):
    Provider.objects.update(requests_per_minute=1, burst=3)
    ask(5)

    assert [len(work()), len(work())] == [3, 0]


def test_no_more_tasks_run_at_once_than_the_provider_allows(work, shop):
    Provider.objects.update(max_running=2)
    ask(5)

    first = work.worker.claim(TaskJob, 10)
    second = work.worker.claim(TaskJob, 10)

    assert (len(first), len(second)) == (2, 0)


def test_the_price_of_a_task_is_booked_and_the_budget_holds(work, shop):
    Provider.objects.update(price=Decimal("0.4"), daily_budget=1)
    ask(5)

    claimed = work()

    assert (len(claimed), limits.find("shop:api").spent_today) == (2, Decimal("0.8"))


def test_an_unavailable_provider_is_paused_for_everybody(work, shop):
    result = tasks.meet_closed_shop.enqueue()

    work()
    ask(1)

    job = TaskJob.objects.get(pk=result.id)
    assert (job.status, job.attempts) == (Status.QUEUED, 0)
    assert limits.find("shop:api").is_paused
    assert not work()


def test_resuming_lets_the_tasks_go_that_met_the_fault(work, shop):
    result = tasks.meet_closed_shop.enqueue()
    work()

    pausing.resume("shop:api")

    later = Now() + timedelta(seconds=1)
    assert TaskJob.objects.filter(pk=result.id, run_after__lte=later).exists()


def test_no_lane_starves_another(work, shop):
    ask(3)
    for number in range(3):
        tasks.add.enqueue(number)

    claimed = {work(slots=1)[0].task_path for _ in range(6)}

    assert len(claimed) == 2


# What the claim must not take


def test_the_budget_holds_even_where_other_calls_go_by_batch(work, shop):
    Provider.objects.update(price=Decimal("0.4"), daily_budget=1, strategy="batch")
    ask(5)

    assert len(work()) == 2


def test_without_a_price_of_a_call_a_budget_starts_no_task(work, shop):
    Provider.objects.update(output_price=Decimal(3), daily_budget=1)
    ask(2)

    assert work() == []


def test_tasks_with_a_provider_are_not_claimed_ahead():
    intake = Intake([TaskJob], slots=2, batch=500)
    intake.note_pace(TaskJob, 0.001)

    assert intake.room(TaskJob, Counter()) == 2


def test_a_worker_with_little_time_begins_no_task_that_may_be_paid_for(worker, shop):
    ask(1)
    tasks.add.enqueue(1)

    claimed = worker.claim(TaskJob, 10, time_left=5)

    assert [job.task_path for job in claimed] == ["tests.testapp.tasks.add"]
    assert len(worker.claim(TaskJob, 10)) == 1


def test_what_a_paid_function_returned_is_kept_though_the_database_is_away(work, shop, monkeypatch):
    monkeypatch.setattr(breaker, "note_answer", Mock(side_effect=OperationalError))
    ask(1)

    work()

    assert TaskJob.objects.get().status == Status.SUCCEEDED


def test_tasks_wait_only_if_every_provider_of_due_ones_is_closed(shop):
    ask(1)
    pausing.pause("shop:api", "closed")

    assert waiting.closed_for(TaskJob)
    tasks.add.enqueue(1)
    assert waiting.closed_for(TaskJob) is None
