"""pgqueuer: asyncio, batches; a finished job leaves its table for a log."""

import asyncio
import json
import os
import signal
from functools import cache

import asyncpg
import uvloop
from pgqueuer import PgQueuer
from pgqueuer.models import Job
from pgqueuer.queries import Queries

from bench import tasks

TABLES = ["pgqueuer", "pgqueuer_log", "pgqueuer_statistics"]
OPEN_JOBS = "SELECT 1 FROM pgqueuer"
DONE_JOBS = "SELECT 1 FROM pgqueuer_log WHERE status = 'successful'"
WAKE = ""
SLOTS = True
BATCH = 1000  # the fastest of 10, 100, 500, 1000 and 2000; its default is 10

loop = uvloop.new_event_loop()


@cache
def queries() -> Queries:
    return Queries.from_asyncpg_connection(loop.run_until_complete(asyncpg.connect()))


def setup() -> None:
    loop.run_until_complete(queries().install())


def enqueue_one(task: str, sent_at: float) -> None:
    loop.run_until_complete(queries().enqueue(task, json.dumps(sent_at).encode()))


def enqueue_many(task: str, count: int) -> None:
    loop.run_until_complete(queries().enqueue([task] * count, [b"0.0"] * count, [0] * count))


def work(slots: int) -> None:
    loop.run_until_complete(run_worker(slots))


async def run_worker(slots: int) -> None:
    name = {"application_name": os.environ["PGAPPNAME"]}  # asyncpg ignores this variable
    pool = await asyncpg.create_pool(min_size=2, max_size=4, server_settings=name)
    pgq = PgQueuer.from_asyncpg_pool(pool)

    @pgq.entrypoint("noop")
    async def noop(job: Job) -> None:
        tasks.noop(json.loads(job.payload))

    @pgq.entrypoint("nap")
    async def nap(job: Job) -> None:
        await asyncio.sleep(tasks.NAP)

    @pgq.entrypoint("stamp")
    async def stamp(job: Job) -> None:
        tasks.stamp(json.loads(job.payload))

    @pgq.entrypoint("note")
    async def note(job: Job) -> None:
        tasks.note(json.loads(job.payload))

    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, pgq.shutdown.set)
    if slots:
        # pgqueuer allows batches of at most half the slots.
        await pgq.run(batch_size=slots // 2, max_concurrent_tasks=slots)
    else:
        await pgq.run(batch_size=BATCH)
