"""python -m bench.archive [--attempts 1000000]: what it costs to let history leave the database.

Prints rows a second, the peak memory of the process, the longest transaction, how many jobs a
second another process claims and settles meanwhile, and how often any session waited for a lock.
With two cores the two share the processors, so that a share below 1 need not be a lock.
"""

import argparse
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from bench.environments import RUN
from bench.server import running_server
from config.embedded.server import NAME, USER, Server

PER_JOB = 2  # attempts
BATCH = 50


def main() -> None:
    options = parse()
    if options.inside == "claims":
        claim_for_ever()
    elif options.inside:
        measure(options.attempts)
    else:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
        with running_server(), tempfile.TemporaryDirectory() as answers:
            server = Server(RUN)
            environment = {
                "DJANGO_SETTINGS_MODULE": "bench.settings",
                "PGHOST": str(server.sockets),
                "PGUSER": USER,
                "PGDATABASE": NAME,
                "BENCH_URL": "",
                "ANSWERS_FOLDER": answers,
            }
            print(f"\n{options.attempts:,} attempts leave for files, PostgreSQL", flush=True)
            command = [*inside("archive"), f"--attempts={options.attempts}"]
            subprocess.run(command, env=os.environ | environment, check=True)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.archive", description=__doc__)
    parser.add_argument("--attempts", type=int, default=1_000_000)
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    return parser.parse_args()


def inside(what: str) -> list[str]:
    return [sys.executable, "-m", "bench.archive", f"--inside={what}"]


def measure(number: int) -> None:
    import django

    django.setup()
    from django.core.management import call_command

    from jobs.archive import archiving
    from jobs.archive.ages import Ages
    from jobs.models import Archive

    call_command("migrate", run_syncdb=True, verbosity=0)
    fill(number)
    with claiming() as settled:
        time.sleep(3)
        alone = pace(settled, 10)
        before = peak()
        with watched_locks() as waits, timed_transactions() as longest:
            started_at, had = time.perf_counter(), settled()
            done = archiving.archive(Ages.now(), lambda: True)
            seconds = time.perf_counter() - started_at
            beside = (settled() - had) / seconds
        after = peak()
        alone_again = pace(settled, 10)
    assert done["attempts"] == number, done
    stored = sum(Archive.objects.values_list("bytes", flat=True))
    tell("rows a second", f"{number / seconds:,.0f}")
    tell("files", f"{done['files']:,} of {stored / done['files'] / 1024:,.0f} kB")
    tell("peak memory, MB", f"{after:.0f} ({before:.0f} before)")
    tell("longest transaction, ms", f"{1000 * longest():.0f}")
    usual = (alone + alone_again) / 2
    tell("jobs/s of another process, alone", f"{usual:,.0f} ({alone:,.0f}, {alone_again:,.0f})")
    tell("  meanwhile", f"{beside:,.0f}")
    tell("  share", f"{beside / usual:.2f}")
    tell("looks that saw a session wait for a lock", f"{waits.seen} of {waits.looks:,}")


def fill(number: int) -> None:
    """Ended jobs of 40 days ago, with two attempts each: one failed, with a traceback."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO bench_jobs (id, task, status, created_at, finished_at, epoch)"
            " SELECT gen_random_uuid(), 'noop', 'succeeded', t, t, 2"
            " FROM (SELECT now() - interval '40 days' + n * interval '0.01 seconds' AS t"
            " FROM generate_series(1, %s) AS n) AS times",
            [number // PER_JOB],
        )
        cursor.execute(
            "INSERT INTO job_attempts (job_id, kind, epoch, worker, started_at, ended_at, outcome,"
            " error, traceback, steps) SELECT id, 'bench.BenchJob', e, 'host:1:abc',"
            " finished_at - interval '20 seconds', finished_at,"
            " CASE e WHEN 1 THEN 'failed' ELSE 'succeeded' END,"
            " CASE e WHEN 1 THEN 'the provider answered 503' END,"
            " CASE e WHEN 1 THEN repeat('  File \"images.py\", line 40, in make' || id, 8) END,"
            ' \'{"generate": 18200, "store": 412}\' FROM bench_jobs, generate_series(1, 2) AS e'
        )
        cursor.execute("VACUUM ANALYZE job_attempts")
        cursor.execute("VACUUM ANALYZE bench_jobs")


@contextmanager
def claiming() -> Iterator[Any]:
    """Another process claims and settles jobs; yields how many it has settled."""
    process = subprocess.Popen(inside("claims"), stdout=subprocess.PIPE, text=True)
    counted = [0]

    def read() -> None:
        assert process.stdout
        for line in process.stdout:
            counted[0] = int(line)

    threading.Thread(target=read, daemon=True).start()
    try:
        yield lambda: counted[0]
    finally:
        process.kill()
        process.wait()


def claim_for_ever() -> None:
    import django

    django.setup()
    from bench.models import BenchJob
    from jobs import queue
    from jobs.models import Outcome
    from jobs.queue.outcomes import End

    settled = 0
    while True:
        queue.enqueue(BenchJob(task="noop") for _ in range(BATCH))
        jobs = queue.claim(BenchJob, BATCH, "bench", timedelta(minutes=5))
        queue.settle([End(job, Outcome.SUCCEEDED) for job in jobs])
        settled += len(jobs)
        print(settled, flush=True)


def pace(settled: Any, seconds: float) -> float:
    had, started_at = settled(), time.perf_counter()
    time.sleep(seconds)
    return float((settled() - had) / (time.perf_counter() - started_at))


@dataclass
class Waits:
    looks: int = 0
    seen: int = 0


@contextmanager
def watched_locks() -> Iterator[Waits]:
    """Look every few milliseconds whether any session of the database waits for a lock."""
    from django.db import connection

    waits, over = Waits(), threading.Event()
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"

    def look() -> None:
        with connection.cursor() as cursor:
            while not over.wait(0.01):
                cursor.execute(waiting)
                waits.looks += 1
                waits.seen += bool(cursor.fetchone()[0])
        connection.close()

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield waits
    finally:
        over.set()
        thread.join()


@contextmanager
def timed_transactions() -> Iterator[Any]:
    """Yields the longest time between BEGIN and COMMIT of this process."""
    from django.db import connection

    longest = begun = 0.0
    real_begin, real_commit = connection.set_autocommit, connection.commit

    def begin(autocommit: bool, *arguments: Any, **options: Any) -> None:
        nonlocal begun
        real_begin(autocommit, *arguments, **options)
        if not autocommit:
            begun = time.perf_counter()

    def commit() -> None:
        nonlocal longest
        real_commit()
        longest = max(longest, time.perf_counter() - begun)

    connection.set_autocommit, connection.commit = begin, commit  # type: ignore[method-assign]
    try:
        yield lambda: longest
    finally:
        connection.set_autocommit, connection.commit = real_begin, real_commit  # type: ignore[method-assign]


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def tell(name: str, value: str) -> None:
    print(name.ljust(42), value, flush=True)


if __name__ == "__main__":
    main()
