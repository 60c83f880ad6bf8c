"""How each figure is measured: the same way for every queue."""

import resource
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

from psycopg.sql import SQL

from bench import tables
from bench.contestant import Contestant, Failed
from bench.tables import autovacuum_off, empty, scalar, set_aside, transactions
from bench.tasks import NAP

SLOTS = 50
LONG_ENOUGH = 5  # seconds; a measurement this long is not repeated
WATCH = 0.02  # seconds between two checks whether a drain is over


@dataclass(frozen=True)
class Sizes:
    """How many jobs and seconds each measurement takes."""

    single: int = 300  # jobs enqueued one by one
    bulk: int = 10_000
    drain: int = 20_000
    drain_seconds: int = 10  # a slower queue is measured by the jobs it finished by then
    naps: int = 2_000
    stamps: int = 200
    deep: int = 1_000_000  # later jobs, beside half as many finished ones
    idle_seconds: int = 10
    rounds: int = 3


QUICK = Sizes(
    single=100,
    bulk=2_000,
    drain=3_000,
    drain_seconds=2,
    naps=500,
    stamps=30,
    deep=100_000,
    idle_seconds=3,
    rounds=1,
)

Figures = dict[str, float]


def enqueueing(queue: Contestant, sizes: Sizes) -> Figures:
    empty(queue)
    figures = {"enqueue": repeated(queue, "enqueue_one", sizes.single, sizes.rounds)}
    if "plain_insert" in queue.facts["more"]:
        figures["insert"] = repeated(queue, "plain_insert", sizes.single, sizes.rounds)
    empty(queue)
    figures["bulk"] = repeated(queue, "enqueue_noops", sizes.bulk, sizes.rounds)
    if "enqueue_made" in queue.facts["more"]:
        empty(queue)
        figures["made"] = repeated(queue, "enqueue_made", sizes.bulk, sizes.rounds)
    return figures


def draining(queue: Contestant, sizes: Sizes) -> Figures:
    """Drain with one worker and with two; memory and commits are those of the single one."""
    set_aside(queue, "enqueue_noops", sizes.drain)
    before = transactions(queue)
    with queue.workers() as [worker]:
        bursts = drain_repeatedly(queue, sizes)
        memory = resident_megabytes(worker)
    commits = transactions(queue) - before
    empty(queue)  # a slow queue leaves jobs, and the next workers must start idle
    with queue.workers(2):
        bursts_of_two = drain_repeatedly(queue, sizes)
    return {
        "drain": median(burst.rate for burst in bursts),
        "drain_two": median(burst.rate for burst in bursts_of_two),
        "memory": memory,
        "commits": commits / sum(burst.done for burst in bursts),
    }


def noting(queue: Contestant, sizes: Sizes) -> Figures:
    """Drain jobs that write a line to a file each, with workers that have just started."""
    set_aside(queue, "enqueue_notes", sizes.drain)
    return {"notes": cold_rate(queue, sizes, 1), "notes_two": cold_rate(queue, sizes, 2)}


def cold_rate(queue: Contestant, sizes: Sizes, workers: int) -> float:
    rates = []
    for _ in range(sizes.rounds):
        with queue.workers(workers):
            rates.append(drain(queue, sizes.drain_seconds).rate)
        empty(queue)  # a slow queue leaves jobs, and the next workers must start idle
    return median(rates)


def picking_up(queue: Contestant, sizes: Sizes) -> Figures:
    """How long a job waits for an idle worker.

    Measured from just before the call that enqueues it, and from that call's return.
    """
    empty(queue)
    stamps = Path(queue.environment["BENCH_STAMPS"])
    stamps.write_text("")
    with queue.workers():
        returned = queue.ask("send_stamps", sizes.stamps)
        watch(queue, limit=5)
    lines = [line.split() for line in stamps.read_text().splitlines()]
    if len(lines) != sizes.stamps:
        raise Failed(f"{len(lines)} of {sizes.stamps} jobs picked up")
    from_call = [float(started) - float(sent) for sent, started in lines]
    from_return = [float(started) - returned[sent] for sent, started in lines]
    return {
        "pick_up_p50": median(from_call) * 1000,
        "pick_up_p99": quantiles(from_call, n=100)[98] * 1000,
        "pick_up_returned": median(from_return) * 1000,
        "pick_up_returned_p99": quantiles(from_return, n=100)[98] * 1000,
    }


def napping(queue: Contestant, sizes: Sizes) -> Figures:
    if not queue.facts["SLOTS"]:
        raise Failed("runs one job at a time, so it has no slots to fill")
    set_aside(queue, "enqueue_naps", sizes.naps)
    with queue.workers(slots=SLOTS):
        burst = drain(queue, limit=30)
    return {"naps": burst.rate * NAP / SLOTS}


def idling(queue: Contestant, sizes: Sizes) -> Figures:
    """Subtract a short idle run from a longer one: this removes the cost of start and stop."""
    empty(queue)
    with autovacuum_off(queue):
        short = transactions_of_a_life(queue, 0)
        longer = transactions_of_a_life(queue, sizes.idle_seconds)
    return {"idle": (longer - short) / sizes.idle_seconds}


def depth(queue: Contestant, sizes: Sizes) -> Figures:
    """Drain among many later and finished jobs, and compare with an empty table just before."""
    if "deepen" not in queue.facts["more"]:
        return {}
    set_aside(queue, "enqueue_noops", sizes.drain)
    with queue.workers():
        shallow = drain_repeatedly(queue, sizes)
    empty(queue)
    queue.ask("deepen", sizes.deep)
    with queue.connect() as connection:
        connection.execute("VACUUM ANALYZE")
    look = median(queue.ask("look", 20)) * 1000
    with queue.workers():
        deep = drain_repeatedly(queue, sizes, keep=True)
    ratio = median(burst.rate for burst in deep) / median(burst.rate for burst in shallow)
    return {"depth": ratio, "look": look}


MEASUREMENTS: list[Callable[[Contestant, Sizes], Figures]] = [
    *(enqueueing, draining, noting, picking_up, napping, idling, depth),
]


@dataclass(frozen=True)
class Burst:
    """How many jobs of a burst were done, and in what time."""

    done: int
    seconds: float

    @property
    def rate(self) -> float:
        return self.done / self.seconds


def drain_repeatedly(queue: Contestant, sizes: Sizes, *, keep: bool = False) -> list[Burst]:
    bursts: list[Burst] = []
    while len(bursts) < sizes.rounds:
        bursts.append(drain(queue, sizes.drain_seconds, keep=keep))
        if bursts[-1].seconds > LONG_ENOUGH:
            break
    return bursts


def drain(queue: Contestant, limit: float, *, keep: bool = False) -> Burst:
    """Insert all jobs set aside in one commit; the clock starts there, with idle workers."""
    if not keep:
        empty(queue)
    with queue.connect() as connection:
        if keep:
            connection.execute("UPDATE aside SET id = uuidv7()")  # the last round's rows are kept
        connection.execute("CHECKPOINT")
        before = tables.done(connection, queue)
        with connection.transaction():
            sent = tables.bring_back(connection, queue)
            if queue.facts["WAKE"]:
                connection.execute(queue.facts["WAKE"])
        started = time.perf_counter()
        over = watch(queue, limit)
        seconds = time.perf_counter() - started
        done = tables.done(connection, queue, sent) - before
    if not done or (over and done != sent):
        raise Failed(f"{done} of {sent} jobs succeeded in {seconds:.1f} s")
    return Burst(done, seconds)


def watch(queue: Contestant, limit: float) -> bool:
    """Wait up to `limit` seconds until no job is open; returns whether that happened."""
    give_up = time.perf_counter() + limit
    any_open = SQL("SELECT EXISTS ({})").format(SQL(queue.facts["OPEN_JOBS"]))
    # One transaction, so that these checks don't count as commits of the queue.
    with queue.connect() as connection, connection.transaction():
        while scalar(connection, any_open):
            if time.perf_counter() > give_up:
                return False
            time.sleep(WATCH)
        return True


def transactions_of_a_life(queue: Contestant, seconds: float) -> int:
    before = transactions(queue)
    with queue.workers():
        time.sleep(seconds)
    return transactions(queue) - before


def repeated(queue: Contestant, operation: str, count: int, rounds: int) -> float:
    rates: list[float] = []
    while len(rates) < rounds:
        rates.append(queue.ask(operation, count))
        if count / rates[-1] > LONG_ENOUGH:
            break
    return median(rates)


def resident_megabytes(pid: int) -> float:
    pages = Path(f"/proc/{pid}/statm")
    if pages.exists():
        return int(pages.read_text().split()[1]) * resource.getpagesize() / 2**20
    shown = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, check=True)
    return int(shown.stdout) / 1024
