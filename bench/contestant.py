"""A queue in the race: its database, its environment, its processes."""

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import psycopg
from psycopg.sql import SQL, Identifier

from bench.environments import PROJECT, RUN, program_of, variables_of

PATIENCE = 60  # seconds for one operation
SETTLING = 1  # seconds from a worker's first connection until it is idle
STOPPING = 15  # seconds for a worker to end by itself


class Failed(Exception):
    """A queue did not do what was asked; the text says why, or is its last line of output."""


@dataclass
class Contestant:
    """One queue with its own database on the common server."""

    name: str
    sockets: Path  # the server listens only there

    @property
    def module(self) -> str:
        return self.name.replace("-", "_")

    @property
    def database(self) -> str:
        return f"bench_{self.module}"

    @cached_property
    def environment(self) -> dict[str, str]:
        where = {"PGHOST": str(self.sockets), "PGUSER": "postgres", "PGDATABASE": self.database}
        stamps = {"BENCH_STAMPS": str(RUN / f"{self.module}.stamps")}
        return {**os.environ, **where, **stamps, **variables_of(self.module)}

    @cached_property
    def facts(self) -> dict[str, Any]:
        facts: dict[str, Any] = self.ask("describe")
        return facts

    def prepare(self) -> None:
        """Install the queue into an empty database."""
        with self.connect("postgres") as connection:
            name = Identifier(self.database)
            connection.execute(SQL("DROP DATABASE IF EXISTS {}").format(name))
            connection.execute(SQL("CREATE DATABASE {}").format(name))
        self.ask("setup")

    def connect(self, database: str = "") -> "psycopg.Connection[Any]":
        return psycopg.connect(
            host=str(self.sockets),
            user="postgres",
            dbname=database or self.database,
            autocommit=True,
        )

    def ask(self, operation: str, number: int = 0) -> Any:
        """Run an operation inside the queue's environment; returns its result."""
        try:
            done = subprocess.run(
                self._command(operation, number),
                cwd=PROJECT,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
            )
        except subprocess.TimeoutExpired as error:
            raise Failed(f"{operation} took more than {PATIENCE} s") from error
        if done.returncode:
            raise Failed(f"{operation}: {_last_line(done.stderr)}")
        return json.loads(done.stdout.splitlines()[-1])

    @contextmanager
    def workers(self, count: int = 1, slots: int = 0) -> Iterator[list[int]]:
        """Start `count` worker processes and wait until they are idle; yields their process ids."""
        with tempfile.TemporaryFile("w+") as log:
            processes = [
                subprocess.Popen(
                    self._command("work", slots),
                    cwd=PROJECT,
                    env={**self.environment, "PGAPPNAME": f"worker {number}"},
                    stdin=subprocess.PIPE,  # the worker ends when it closes
                    stdout=log,
                    stderr=log,
                )
                for number in range(count)
            ]
            try:
                self._wait_until_connected(processes)
                yield [process.pid for process in processes]
            finally:
                ended = any(process.poll() is not None for process in processes)
                for process in processes:
                    process.terminate()
                for process in processes:
                    _see_off(process)
                if ended:
                    log.seek(0)
                    raise Failed(f"a worker ended: {_last_line(log.read())}")

    def _command(self, operation: str, number: int) -> list[str]:
        return [*program_of(self.module), self.module, operation, str(number)]

    def _wait_until_connected(self, processes: "list[subprocess.Popen[bytes]]") -> None:
        names = """
            SELECT count(DISTINCT application_name) FROM pg_stat_activity
            WHERE datname = %s AND application_name LIKE 'worker %%'
        """
        give_up = time.monotonic() + PATIENCE
        with self.connect("postgres") as connection:
            while connection.execute(names, [self.database]).fetchone() != (len(processes),):
                if time.monotonic() > give_up or any(p.poll() is not None for p in processes):
                    raise Failed("a worker did not connect")
                time.sleep(0.05)
        time.sleep(SETTLING)


def _see_off(process: "subprocess.Popen[bytes]") -> None:
    try:
        process.wait(STOPPING)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdin:
        process.stdin.close()


def _last_line(text: str) -> str:
    return (text.strip() or "no word").splitlines()[-1][:200]
