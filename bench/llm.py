"""python -m bench.llm [--requests 10000]: what a process of many LLM requests costs.

Prints time, queries and peak memory of each step, on PostgreSQL and on SQLite. Each database is
measured in a process of its own, so that the memory is its own too.
"""

import argparse
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from bench.environments import RUN
from bench.server import running_server
from config.embedded.server import NAME, USER, Server

SCHEMA = {"type": "object", "properties": {"summary": {"type": "string"}}, "required": ["summary"]}
BATCH = 500


def main() -> None:
    options = parse()
    if options.inside:
        measure(options.requests)
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # SystemExit runs every `finally`
    with running_server():
        for name, environment in databases().items():
            print(f"\n{options.requests:,} requests in one process, {name}", flush=True)
            command = [sys.executable, "-m", "bench.llm", "--inside"]
            command += [f"--requests={options.requests}"]
            subprocess.run(command, env=os.environ | environment, check=True)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.llm", description=__doc__)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def databases() -> dict[str, dict[str, str]]:
    server = Server(RUN)
    usual = {"DJANGO_SETTINGS_MODULE": "bench.settings"}
    return {
        "PostgreSQL": usual
        | {"PGHOST": str(server.sockets), "PGUSER": USER, "PGDATABASE": NAME, "BENCH_URL": ""},
        "SQLite": usual | {"BENCH_URL": f"sqlite:///{server.folder / 'llm.sqlite3'}"},
    }


def measure(number: int) -> None:
    import django

    django.setup()

    from django.core.management import call_command

    from jobs import llm
    from jobs.llm.models import LLMJob
    from jobs.models import Provider

    call_command("migrate", run_syncdb=True, verbosity=0)
    Provider.objects.create(name=LLMJob.provider_name(), requests_per_minute=None)
    line("", "seconds", "queries", "peak MB")
    report("start", 0, 0)
    with step("submit"):
        process = llm.submit(requests(number), label="Many")
    with step("progress"):
        llm.progress(process.id)
    with step("claim and settle"):
        while settle():
            pass
    assert llm.progress(process.id).ended_at, "all have ended"
    with step("results"):
        assert len(llm.results(process.id)) == number
    with step("consume"), llm.consume(process.id) as answers:
        assert len(answers) == number
    assert not LLMJob.objects.exists()
    with step("submit"):
        process = llm.submit(requests(number), label="Many")
    with step("cancel"):
        llm.cancel(process.id)


def requests(number: int) -> Iterator[dict[str, Any]]:
    """About 1 kB each, as a domain would make them: one after the other."""
    for n in range(number):
        yield {"system": "Summarize.", "prompt": f"Spot {n}. " + "x" * 800, "schema": SCHEMA}


def settle() -> int:
    """End a batch of claims with answers of about 1 kB, as a worker does."""
    from jobs import queue
    from jobs.llm.models import LLMJob
    from jobs.models import Outcome
    from jobs.queue.outcomes import End

    jobs = queue.claim(LLMJob, BATCH, "bench", timedelta(minutes=5))
    answer = {"text": "y" * 1000, "data": {"summary": "y"}, "provider": "bench"}
    queue.settle([End(job, Outcome.SUCCEEDED, result=answer) for job in jobs])
    return len(jobs)


@contextmanager
def step(name: str) -> Iterator[None]:
    """Print what the block costs."""
    from django.db import connection

    seen = 0

    def count(execute: Callable[..., Any], *arguments: Any) -> Any:
        nonlocal seen
        seen += 1
        return execute(*arguments)

    started_at = time.perf_counter()
    with connection.execute_wrapper(count):
        yield
    report(name, time.perf_counter() - started_at, seen)


def report(name: str, seconds: float, queries: int) -> None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    line(name, f"{seconds:.3f}", f"{queries:,}", f"{peak:.0f}")


def line(name: str, *cells: str) -> None:
    print(name.ljust(18), *(cell.rjust(10) for cell in cells), flush=True)


if __name__ == "__main__":
    main()
