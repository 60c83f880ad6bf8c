"""procrastinate: asyncio, one job a fetch; finished jobs stay, with their events."""

import asyncio
from functools import cache

import procrastinate

from bench import tasks

TABLES = ["procrastinate_jobs", "procrastinate_events", "procrastinate_periodic_defers"]
OPEN_JOBS = "SELECT 1 FROM procrastinate_jobs WHERE status IN ('todo', 'doing')"
DONE_JOBS = "SELECT 1 FROM procrastinate_jobs WHERE status = 'succeeded'"
WAKE = ""
SLOTS = True
CONCURRENCY = 10  # for jobs that do nothing

app = procrastinate.App(connector=procrastinate.PsycopgConnector())


@cache
def opened() -> procrastinate.App:
    return app.open()


@app.task(name="noop")
async def noop(sent_at: float) -> None:
    tasks.noop(sent_at)


@app.task(name="nap")
async def nap(sent_at: float) -> None:
    await asyncio.sleep(tasks.NAP)


@app.task(name="stamp")
async def stamp(sent_at: float) -> None:
    tasks.stamp(sent_at)


@app.task(name="note")
async def note(sent_at: float) -> None:
    tasks.note(sent_at)


def setup() -> None:
    opened().schema_manager.apply_schema()


def enqueue_one(task: str, sent_at: float) -> None:
    opened().tasks[task].defer(sent_at=sent_at)


def enqueue_many(task: str, count: int) -> None:
    opened().tasks[task].batch_defer(*({"sent_at": 0.0} for _ in range(count)))


def work(slots: int) -> None:
    app.run_worker(concurrency=slots or CONCURRENCY)
