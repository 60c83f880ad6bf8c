import random
import time
from datetime import timedelta

import pytest
from django.db.models import Max

from jobs.models import MAX_INTERRUPTIONS, Attempt, Status, Worker
from tests.jobs import processes
from tests.jobs.processes import (
    all_ended_in_time,
    assert_each_done_once,
    count_effects,
    count_processing,
    enqueue_chores,
    outcomes_of,
    wait_until,
)
from tests.testapp.models import Chore, HookCall

pytestmark = pytest.mark.django_db(transaction=True)
start = processes.start

SAME_HOST_AND_PID = (
    "import os, socket; os.getpid = lambda: 7; socket.gethostname = lambda: 'container'"
)


def test_what_a_killed_worker_held_is_done_by_another(start):
    ids = enqueue_chores(3, seconds=1)
    victim = start(slots=3)
    wait_until(lambda: count_processing() == 3)
    victim.kill()
    lease_ended_at = Chore.objects.aggregate(last=Max("lease_expires_at"))["last"]

    start()
    wait_until(all_ended_in_time)

    assert_each_done_once(ids)
    for job in Chore.objects.all():
        assert outcomes_of(job.id) == ["lost", "succeeded"]
        assert (job.attempts, job.interruptions, job.epoch) == (0, 1, 3)
    rescued_at = Attempt.objects.filter(outcome="lost").aggregate(last=Max("ended_at"))["last"]
    assert timedelta(0) <= rescued_at - lease_ended_at < timedelta(seconds=5)


def test_a_killed_worker_leaves_the_list_by_itself(start):
    victim = start()
    wait_until(lambda: victim.is_listed)
    victim.kill()

    other = start()

    wait_until(lambda: not victim.is_listed)
    assert other.is_listed


def test_workers_killed_at_random_lose_nothing_and_do_nothing_twice(start):
    ids = enqueue_chores(150, seconds=0.05) + enqueue_chores(350, seconds=0.2)
    workers = [start() for _ in range(3)]
    wait_until(count_effects)

    kills = 0
    end_at = time.monotonic() + 10
    while time.monotonic() < end_at and not all_ended_in_time():
        time.sleep(random.uniform(0, 0.5))
        victim = random.choice(workers)
        # A third time would make a job poison, and rightly so.
        if victim.jobs.filter(interruptions__lt=MAX_INTERRUPTIONS - 1).exists():
            victim.kill()
            kills += 1
            workers[workers.index(victim)] = start()
    wait_until(all_ended_in_time)

    assert kills >= 3
    assert_each_done_once(ids)
    lost = Attempt.objects.filter(outcome="lost").count()
    assert lost == sum(Chore.objects.values_list("interruptions", flat=True)) > 0
    assert set(Chore.objects.values_list("attempts", flat=True)) == {0}


def test_two_workers_with_the_same_host_and_pid_stay_apart(start):
    one = start(before=SAME_HOST_AND_PID, slots=2)
    start(before=SAME_HOST_AND_PID, slots=2)
    wait_until(lambda: Worker.objects.count() == 2)
    ids = enqueue_chores(4, seconds=2)
    wait_until(lambda: count_processing() == 4)
    names = set(Chore.objects.values_list("locked_by", flat=True))

    one.kill()
    wait_until(all_ended_in_time)

    assert len(names) == 2
    assert {name.rpartition(":")[0] for name in names} == {"container:7"}
    assert set(Worker.objects.values_list("name", flat=True)) < names
    assert_each_done_once(ids)
    assert Attempt.objects.filter(outcome="lost").count() == 2
    survivor = set(Attempt.objects.filter(outcome="succeeded").values_list("worker", flat=True))
    assert len(survivor) == 1


def test_a_job_that_kills_its_workers_fails_as_poison_and_its_neighbours_survive(start):
    neighbours = enqueue_chores(5, seconds=0.3)
    [poison] = enqueue_chores(1, script="die")
    workers = [start(slots=8)]

    def supervise():
        if workers[-1].has_ended:
            workers.append(start(slots=8))
        return all_ended_in_time()

    wait_until(supervise, within=60)

    *dead, living = workers
    assert [worker.exit_code() for worker in dead] == [9] * MAX_INTERRUPTIONS
    assert not living.has_ended
    job = Chore.objects.get(id=poison)
    assert (job.status, job.error_kind) == (Status.FAILED, "Poisonous")
    assert (job.attempts, job.interruptions) == (0, MAX_INTERRUPTIONS)
    assert outcomes_of(poison) == ["lost"] * MAX_INTERRUPTIONS
    assert list(HookCall.objects.values_list("job_id", "hook")) == [(poison, "on_failure")]
    Chore.objects.filter(id=poison).delete()
    assert_each_done_once(neighbours)
