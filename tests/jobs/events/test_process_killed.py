"""Workers are killed in the middle of handling: each event has exactly one effect."""

import random
from collections import Counter

import pytest

from jobs.events.models import EventJob
from jobs.models import Attempt, Event, Status
from tests.jobs import processes
from tests.jobs.events.conftest import ring
from tests.jobs.processes import wait_until
from tests.testapp.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)
start = processes.start

# Dies after the handler has returned and before its end is written, or just after that.
DYING = """
import django; django.setup()
import os
from jobs import queue
real = queue.settle
def fatal(ends, *arguments, **options):
    {before}
    result = real(ends, *arguments, **options)
    if ends: os.kill(os.getpid(), 9)
    return result
queue.settle = fatal
"""
POINTS = {
    "before the end is written": "if ends: os.kill(os.getpid(), 9)",
    "after the end is written": "pass",
}


def all_processed():
    return not Event.objects.unprocessed().exists()


def assert_each_had_one_effect(events):
    assert Counter(Effect.objects.values_list("job_id", flat=True)) == Counter(
        event.pk for event in events
    )
    assert set(EventJob.objects.values_list("status", flat=True)) == {Status.SUCCEEDED}


@pytest.mark.few(1)
@pytest.mark.parametrize("before", POINTS.values(), ids=POINTS.keys())
def test_a_worker_killed_at_the_end_of_a_handler_leaves_one_effect(start, before):
    events = [ring("bell")]
    victim = start(slots=1, before=DYING.format(before=before))
    assert victim.exit_code() == -9
    victim.expire(EventJob)

    start()
    wait_until(all_processed)

    assert_each_had_one_effect(events)


@pytest.mark.long
def test_workers_killed_while_they_handle_events_leave_one_effect_of_each(start):
    seed = random.getrandbits(32)
    print(f"chance = random.Random({seed})")
    chance = random.Random(seed)
    events = [ring(str(n), seconds=chance.uniform(0, 0.2)) for n in range(60)]

    for _ in range(2):  # a third could rightly make a job poison
        victim = start(slots=4)
        wait_until(lambda victim=victim: victim.jobs_of(EventJob).exists())
        victim.kill()
        victim.expire(EventJob)
    start()
    start()
    wait_until(all_processed)

    assert_each_had_one_effect(events)
    assert Attempt.objects.filter(outcome="lost").exists()
