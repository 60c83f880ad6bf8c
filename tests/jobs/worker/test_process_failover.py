"""Workers that know both servers of a pair go on when the standby takes over."""

import os
import re
import time

import pytest

from jobs.models import Attempt
from jobs.worker.heartbeat import BLOCKED
from tests.jobs import pair as pairs
from tests.jobs import processes
from tests.jobs.processes import (
    SHORT,
    all_ended,
    assert_each_done_once,
    count_begun,
    count_effects,
    enqueue_chores,
    outcomes_of,
    prelude,
    wait_until,
)
from tests.testapp.models import Chore, Effect

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres]
pair, start = pairs.pair, processes.start

COUNT = int(os.environ.get("STORM", "150"))  # jobs
EVERY = float(os.environ.get("FAIL_OVER_EVERY", "0"))  # seconds; 0: once, in mid-storm
LOST = 5  # settlements at least, in an asynchronous failover
# Limits the wait before a job that found no database is retried.
COME_BACK_SOON = prelude("Chore.backoff_cap = timedelta(seconds=10)")
OF_A_CLAIM = re.compile(r"  job=testapp.Chore id=\S+ epoch=")
SUCCESS = re.compile(r"INFO +succeeded  job=testapp.Chore")


class Storm:
    """Three workers, each replaced when its watchdog ends it."""

    def __init__(self, pair, start):
        self.pair = pair
        self.start = lambda: start(url=pair.url, before=COME_BACK_SOON)
        self.workers = [self.start() for _ in range(3)]
        self.living = list(self.workers)
        self.outages = 0

    def rages(self):
        for worker in self.living:
            if worker.has_ended:
                assert worker.exit_code() == BLOCKED
                self.living.remove(worker)
                self.living.append(self.start())
                self.workers.append(self.living[-1])
        return not all_ended()

    def fail_over(self, *, losing):
        if losing:
            self.pair.cut()
            known = count_effects()
            wait_until(lambda: count_effects() >= known + LOST or all_ended())
        self.pair.fail_over()
        self.pair.rejoin()
        self.outages += 1

    @property
    def successes(self):
        """How many were acknowledged: by the database that lives, or by one that was lost."""
        return sum(len(SUCCESS.findall(worker.log)) for worker in self.workers)

    def lines_about_outages(self):
        """What each worker logged after its start, without the end of each claim."""
        for worker in self.workers:
            lines = worker.log.partition(" started: ")[2].splitlines()[1:]
            yield [line for line in lines if not (line[0] == " " or OF_A_CLAIM.search(line))]


@pytest.mark.long
@pytest.mark.parametrize("synchronous", [True, False], ids=["synchronous", "asynchronous"])
def test_a_standby_takes_over_in_mid_storm(pair, start, synchronous, capsys):
    pair.start(synchronous=synchronous)
    ids = enqueue_chores(COUNT, 0.3, script="sign")
    pair.catch_up()
    storm = Storm(pair, start)

    wait_until(lambda: count_effects() > COUNT // 10)
    storm.fail_over(losing=not synchronous)
    last = time.monotonic()
    while wait_until(lambda: "goes on" if storm.rages() else "ended") == "goes on":
        if EVERY and time.monotonic() > last + EVERY:
            storm.fail_over(losing=not synchronous)
            last = time.monotonic()
        time.sleep(0.1)

    assert_each_done_once(ids)
    assert set(Chore.objects.values_list("attempts", flat=True)) == {0}
    # Each job was done by the worker that held its claim: no end of a lost claim counted.
    workers = dict(Attempt.objects.filter(outcome="succeeded").values_list("job_id", "worker"))
    for job_id, pid in Effect.objects.values_list("job_id", "result"):
        assert f":{pid}:" in workers[job_id]
    lost = storm.successes - len(ids)
    with capsys.disabled():
        print(f"\nFailovers: {storm.outages}. Settlements lost, and made again: {max(lost, 0)}.")
    assert lost <= 0 if synchronous else lost > 0
    for lines in storm.lines_about_outages():
        assert len(lines) <= 3 * storm.outages, lines


@pytest.mark.long
def test_work_goes_on_soon_after_there_is_a_primary_again(pair, start, capsys):
    pair.start(synchronous=False)
    ids = enqueue_chores(8, script="query_then_wait")
    worker = start(url=pair.url, gate=True)
    wait_until(lambda: count_begun() == 4)

    pair.primary.kill()
    worker.open_gate()
    wait_until(lambda: "The database can't be used" in worker.log)
    pair.fail_over()
    since = time.monotonic()
    wait_until(lambda: count_effects() > 0)
    with capsys.disabled():
        print(f"\nThe first result came {time.monotonic() - since:.1f} s after the promotion.")
    wait_until(all_ended)

    assert_each_done_once(ids)
    assert set(Chore.objects.values_list("attempts", flat=True)) == {0}
    assert worker.log.count("The database is back") == 1


@pytest.mark.long
def test_a_worker_whose_commit_waits_for_a_lost_standby_is_ended_by_its_watchdog(pair, start):
    pair.start(synchronous=True)
    [id] = enqueue_chores(1, script="sign")
    blocked = start(url=pair.url, lease=SHORT, gate=True)
    wait_until(lambda: count_begun() == 1)

    pair.standby.kill()

    assert blocked.exit_code() == BLOCKED
    assert "no answer" in blocked.log
    pair.rejoin()
    start(url=pair.url, lease=SHORT)
    wait_until(all_ended)
    assert outcomes_of(id) == ["lost", "succeeded"]
