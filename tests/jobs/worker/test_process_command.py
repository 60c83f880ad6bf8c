import math
from datetime import timedelta

import pytest
from django.db.models.functions import Now

from jobs.management.commands.runworker import duration
from jobs.models import Status
from tests.jobs import processes
from tests.jobs.processes import assert_each_done_once, enqueue_chores, statuses
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db(transaction=True)
start = processes.start


def test_draining_does_what_is_due_and_ends(start):
    ids = enqueue_chores(20, seconds=0.1)

    worker = start("--drain")

    assert worker.exit_code() == 0
    assert_each_done_once(ids)


def test_draining_ends_when_nothing_is_due(start):
    assert start("--drain").exit_code() == 0


def test_draining_does_not_wait_for_later_jobs(start):
    enqueue_chores(3)
    Chore.objects.update(run_after=Now() + timedelta(hours=1))

    worker = start("--drain")

    assert worker.exit_code() == 0
    assert statuses() == {Status.QUEUED: 3}


def test_a_worker_for_cron_ends_when_its_time_is_up(start):
    worker = start("--for=2s")

    assert worker.exit_code() == 0
    assert worker.row.get().way == "runworker --for"
    assert "The worker's time is up." in worker.log


@pytest.mark.parametrize(
    ("text", "seconds"), [("50", 50), ("50s", 50), ("2m", 120), (None, math.inf)]
)
def test_times_are_read_with_or_without_a_unit(text, seconds):
    assert duration(text) == seconds


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("option", "explanation"),
    [
        (
            "--jobs=testapp.Nonsense",
            "Known: jobs.AlertMessage, jobs.Batch,",
        ),
        ("--lease=1.9", "it must be at least 2 s"),
        ("--lease=nan", "it must be at least 2 s"),
        ("--max-concurrent=0", "it must be more than 0"),
        ("--for=soon", "--for soon: it must be a time of at least 1 s: 50, 50s or 2m."),
        ("--for=0", "at least 1 s"),
        ("--for=-5s", "at least 1 s"),
    ],
)
def test_nonsense_on_the_command_line_is_refused_with_an_explanation(start, option, explanation):
    worker = start(option)

    assert worker.exit_code() == 1
    assert explanation in worker.log
    assert "Traceback" not in worker.log
