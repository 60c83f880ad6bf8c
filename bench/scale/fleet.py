"""Many worker processes, forked from this one: each costs little memory and starts at once."""

import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from django.core.management import call_command
from django.db import connections
from django.db.backends.utils import CursorWrapper

from jobs.models import Job, Worker

PATIENCE = 120  # seconds for a fleet to start

statements = multiprocessing.Value("q", 0)  # of all workers, without BEGIN and COMMIT


@contextmanager
def fleet(size: int, models: Sequence[type[Job]]) -> Iterator[None]:
    """Run so many workers for these models until the block ends."""
    connections.close_all()  # a child must not share them
    pids = [_fork(models) for _ in range(size)]
    try:
        _wait_until_all_beat(size)
        time.sleep(3)
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGTERM)
        for pid in pids:
            os.waitpid(pid, 0)


def _fork(models: Sequence[type[Job]]) -> int:
    pid = os.fork()
    if not pid:
        try:
            _work(models)
        finally:
            os._exit(1)
    return pid


def _work(models: Sequence[type[Job]]) -> None:
    execute = CursorWrapper.execute

    def counted(self: CursorWrapper, *arguments: object) -> object:
        with statements.get_lock():
            statements.value += 1
        return execute(self, *arguments)

    CursorWrapper.execute = counted
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), sys.stderr.fileno())
    call_command("runworker", verbosity=0, jobs=[model._meta.label for model in models])


def _wait_until_all_beat(size: int) -> None:
    give_up_at = time.monotonic() + PATIENCE
    while Worker.objects.alive().count() < size:
        if time.monotonic() > give_up_at:
            sys.exit(f"{size} workers did not start within {PATIENCE} s.")
        time.sleep(0.2)
