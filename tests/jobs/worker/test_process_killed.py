import random
import time

import pytest

from jobs.models import MAX_INTERRUPTIONS, Attempt, Status, Worker
from tests.jobs import processes
from tests.jobs.processes import (
    SHORT,
    all_ended,
    assert_each_done_once,
    count_begun,
    enqueue_chores,
    outcomes_of,
    wait_until,
    wait_until_all_ended_in_time,
)
from tests.testapp.models import Chore, HookCall

pytestmark = pytest.mark.django_db(transaction=True)
start = processes.start

SAME_HOST_AND_PID = (
    "import os, socket; os.getpid = lambda: 7; socket.gethostname = lambda: 'container'"
)


def test_what_a_killed_worker_held_is_done_by_another(start):
    ids = enqueue_chores(3, script="sign")
    victim = start(lease=SHORT, gate=True)
    wait_until(lambda: count_begun() == 3)
    victim.kill()
    lease_of = dict(Chore.objects.values_list("id", "lease_expires_at"))

    start(lease=SHORT)
    wait_until_all_ended_in_time()

    assert_each_done_once(ids)
    for job in Chore.objects.all():
        assert outcomes_of(job.id) == ["lost", "succeeded"]
        assert (job.attempts, job.interruptions, job.epoch) == (0, 1, 3)
    for rescue in Attempt.objects.filter(outcome="lost"):
        assert rescue.ended_at >= lease_of[rescue.job_id]


@pytest.mark.long
def test_a_killed_worker_leaves_the_list_by_itself(start):
    victim = start(lease=SHORT)
    wait_until(lambda: victim.is_listed)
    victim.kill()

    other = start(lease=SHORT)

    wait_until(lambda: not victim.is_listed)
    assert other.is_listed


@pytest.mark.search
def test_workers_killed_at_random_lose_nothing_and_do_nothing_twice(start, is_long):
    seed = random.getrandbits(32)
    print(f"chance = random.Random({seed})")
    chance = random.Random(seed)
    workers = [start(lease=8) for _ in range(3)]
    ids = []

    def count_lost():
        return Attempt.objects.filter(outcome="lost").count()

    # At most two kills until all jobs have ended: a third could rightly make a job poison.
    rounds = 0
    while rounds < (3 if is_long else 1) or not count_lost():
        for _ in range(MAX_INTERRUPTIONS - 1):
            ids += enqueue_chores(20, seconds=0.05) + enqueue_chores(40, seconds=0.2)
            kill_a_busy_one(workers, chance, start)
        wait_until_all_ended_in_time()
        rounds += 1

    assert_each_done_once(ids)
    assert count_lost() == sum(Chore.objects.values_list("interruptions", flat=True))
    assert set(Chore.objects.values_list("attempts", flat=True)) == {0}


def kill_a_busy_one(workers, chance, start):
    """Kill a busy worker after a short random time, and start another in its place."""
    busy = wait_until(lambda: [worker for worker in workers if worker.jobs.exists()])
    victim = chance.choice(busy)
    time.sleep(chance.uniform(0, 0.3))
    victim.kill()
    victim.expire()
    workers[workers.index(victim)] = start(lease=8)


@pytest.mark.long
def test_two_workers_with_the_same_host_and_pid_stay_apart(start):
    one = start(before=SAME_HOST_AND_PID, slots=2, lease=8, gate=True)
    other = start(before=SAME_HOST_AND_PID, slots=2, lease=8, gate=True)
    wait_until(lambda: Worker.objects.count() == 2)
    ids = enqueue_chores(4, script="sign")
    wait_until(lambda: count_begun() == 4)
    names = set(Chore.objects.values_list("locked_by", flat=True))

    one.kill()
    other.open_gate()
    wait_until_all_ended_in_time()

    assert len(names) == 2
    assert {name.rpartition(":")[0] for name in names} == {"container:7"}
    assert_each_done_once(ids)
    assert Attempt.objects.filter(outcome="lost").count() == 2
    [survivor] = set(Attempt.objects.filter(outcome="succeeded").values_list("worker", flat=True))
    [victim] = set(Attempt.objects.filter(outcome="lost").values_list("worker", flat=True))
    assert {survivor, victim} == names


@pytest.mark.long
def test_a_job_that_kills_its_workers_fails_as_poison_and_its_neighbours_survive(start):
    neighbours = enqueue_chores(5, seconds=0.3)
    [poison] = enqueue_chores(1, script="die")
    workers = [start(slots=8)]

    def supervise():
        if workers[-1].has_ended:
            workers[-1].expire()
            workers.append(start(slots=8))
        return all_ended()

    wait_until(supervise)

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
