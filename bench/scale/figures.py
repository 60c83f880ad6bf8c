"""What grows with workers, with models, with rows, and with an open snapshot."""

import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from statistics import median
from typing import Any

import psycopg
from django.db import connection, connections

from bench.scale.fleet import fleet, statements
from bench.scale.machine import used_seconds, watched
from bench.scale.place import ALL, SERVER, USUAL, BenchJob, run_sql
from config.embedded.server import NAME, USER
from jobs import queue
from jobs.models import Outcome
from jobs.queue.front import Front
from jobs.queue.outcomes import End
from jobs.worker.loop import Loop
from jobs.worker.options import Options

Line = tuple[str, float, str, float]  # what, how much, of what, cores that others used meanwhile
ROUNDS = 30  # the first of them also compile
PATIENCE = 600  # seconds for a drain
CPU = "ms of CPU"


def idle(workers: int, seconds: float, models: list = USUAL) -> Iterator[Line]:
    """Workers that have nothing to do."""
    with fleet(workers, models):
        before = statements.value
        with watched() as usage:
            time.sleep(seconds)
        sent = (statements.value - before) / usage.seconds
        connected = ask("SELECT count(*) FROM pg_stat_activity WHERE client_port IS NOT NULL") - 1
    what = f"{workers} idle workers, {len(models)} models"
    yield f"{what}: statements", sent, "per second", usage.others
    yield f"{what}: server", 100 * usage.server, "% of a core", usage.others
    yield f"{what}: connections", connected, "", usage.others


def drain(workers: int, jobs: int) -> Iterator[Line]:
    """Jobs that do nothing, from the moment they are due until the last one is settled."""
    run_sql(
        "TRUNCATE bench_jobs, job_attempts",
        "INSERT INTO bench_jobs (id, task, run_after) SELECT uuidv7(), 'noop', now() + '1 day'"
        f" FROM generate_series(1, {jobs})",
        "VACUUM ANALYZE bench_jobs",
    )
    with fleet(workers, [BenchJob]), watched() as usage:
        run_sql("UPDATE bench_jobs SET run_after = now()", "NOTIFY jobs")
        began_at = time.monotonic()
        while ask("SELECT count(*) FROM bench_jobs WHERE status IN ('queued', 'processing')"):
            if time.monotonic() > began_at + PATIENCE:
                raise RuntimeError(f"{workers} workers did not drain {jobs} jobs.")
            time.sleep(0.05)
        rate = jobs / (time.monotonic() - began_at)
    yield f"{workers} workers: claimed and settled", rate, "jobs per second", usage.others
    yield f"{workers} workers: server", 100 * usage.server, "% of a core", usage.others


def models() -> Iterator[Line]:
    """What one worker asks for an announcement, and at a poll."""
    for number in (len(USUAL), len(ALL)):
        worker = idle_worker(ALL[-number:])
        with watched() as usage:
            look = median_cost(look_at_all, worker)
            poll = median_cost(look_again, worker)
            heard = median_cost(hear, worker)
            sent = count_statements(hear, worker)
        yield f"{number} models: look at all", look, CPU, usage.others
        yield f"{number} models: a poll between two of those", poll, CPU, usage.others
        yield f"{number} models: announcement", heard, CPU, usage.others
        yield f"{number} models: announcement", sent, "statements", usage.others


def rows(number: int) -> Iterator[Line]:
    """A table full of ended jobs."""
    run_sql("TRUNCATE bench_jobs, job_attempts")
    yield from steps("an empty table")
    run_sql(
        "INSERT INTO bench_jobs (id, task, status, epoch, finished_at)"
        f" SELECT uuidv7(), 'noop', 'succeeded', 1, now() FROM generate_series(1, {number})",
        "VACUUM ANALYZE bench_jobs",
    )
    yield from steps(f"{number:,} ended jobs")


def snapshot(number: int) -> Iterator[Line]:
    """Jobs that have ended since a snapshot that is still open: their index entries stay."""
    run_sql("TRUNCATE bench_jobs, job_attempts")
    yield from steps("no snapshot")
    with open_snapshot():
        run_sql(
            "INSERT INTO bench_jobs (id, task, run_after)"
            f" SELECT uuidv7(), 'noop', now() - '1 h'::interval FROM generate_series(1, {number})",
            "UPDATE bench_jobs SET status = 'processing', epoch = 1, locked_by = 'w',"
            " locked_at = now(), lease_expires_at = now() + '1 h' WHERE status = 'queued'",
            "UPDATE bench_jobs SET status = 'succeeded', locked_by = NULL, locked_at = NULL,"
            " lease_expires_at = NULL, finished_at = now() WHERE status = 'processing'",
            "VACUUM ANALYZE bench_jobs",
        )
        yield from steps(f"{number:,} ended under a snapshot")
        yield from steps("  the same, always from the beginning", is_whole=True)
    run_sql("TRUNCATE bench_jobs, job_attempts")


def steps(where: str, *, is_whole: bool = False) -> Iterator[Line]:
    """Look, enqueue, claim, beat and settle eight jobs, as one worker does."""
    worker = idle_worker([BenchJob])
    name, lease = worker.name, worker.options.lease
    took = defaultdict(list)
    with watched() as usage:
        for _ in range(ROUNDS):
            took["look"].append(cost(look_at_all if is_whole else look_again, worker)[0])
            queue.enqueue(BenchJob(task="noop") for _ in range(8))
            kept = Front() if is_whole else worker.lookout.fronts[BenchJob]
            claim = partial(queue.claim, BenchJob, 8, name, lease, front=kept)
            milliseconds, jobs = cost(claim)
            took["claim"].append(milliseconds)
            claims = {job.id: job.epoch for job in jobs}
            took["beat"].append(cost(queue.beat, BenchJob, claims, name, lease)[0])
            ends = [End(job, Outcome.SUCCEEDED) for job in jobs]
            took["settle"].append(cost(queue.settle, ends)[0])
    for step, times in took.items():
        yield f"{where}: {step}", median(times), CPU, usage.others


# One worker, in this process


def idle_worker(models: list) -> Loop:
    worker = Loop(models, Options())
    worker.lookout.schedules_at = math.inf
    worker.heartbeat.beat()
    look_at_all(worker)
    return worker


def look_at_all(worker: Loop) -> None:
    worker.lookout.look_at_all_soon()
    worker.look()


def look_again(worker: Loop) -> None:
    worker.lookout.look_at_all_at = max(worker.lookout.look_at_all_at, time.monotonic() + 0.001)
    worker.lookout.hurry(0)
    worker.look()


def hear(worker: Loop) -> None:
    """A notice of one kind: claim it, and look again a little later."""
    worker.hear([worker.intake.models[0]._meta.label])
    worker.look()
    worker.claim()
    look_again(worker)


def cost(act: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    """Milliseconds of CPU that a call takes here and in its session of the server, and its result.

    Unlike its duration, that is nearly the same on a busy machine.
    """
    before = used_seconds()
    result = act(*arguments)
    return (used_seconds() - before) * 1000, result


def median_cost(act: Callable[..., Any], *arguments: Any) -> float:
    return median(cost(act, *arguments)[0] for _ in range(ROUNDS))


def count_statements(act: Callable[..., Any], *arguments: Any) -> int:
    seen = []
    with connection.execute_wrapper(lambda run, *query: (seen.append(query[0]), run(*query))[1]):
        act(*arguments)
    return len(seen)


# The database


def ask(sql: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchone()[0]


@contextmanager
def open_snapshot() -> Iterator[None]:
    """A transaction that goes on reading what there was when it began, as a dump does."""
    with psycopg.connect(host=str(SERVER.sockets), user=USER, dbname=NAME) as old:
        old.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        old.execute("SELECT 1 FROM bench_jobs")
        yield
        old.rollback()


def close() -> None:
    connections.close_all()
