"""What the server and the rest of the machine used of the processors, from /proc."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from django.db import connection

from bench.scale.place import SERVER

TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Usage:
    """The cores that the server and other programs used over some seconds."""

    seconds: float = 0.0
    server: float = 0.0
    others: float = 0.0  # neither the server nor this benchmark


def used_seconds() -> float:
    """CPU seconds that this process, and its session of the server, have used so far."""
    session = Path(f"/proc/{connection.connection.info.backend_pid}/schedstat")
    return time.process_time() + int(session.read_text().split()[0]) / 1e9


@contextmanager
def watched() -> Iterator[Usage]:
    usage = Usage()
    began_at, before = time.monotonic(), _used()
    yield usage
    usage.seconds = time.monotonic() - began_at
    all, server, ours = (
        (now - then) / TICKS / usage.seconds for now, then in zip(_used(), before, strict=True)
    )
    usage.server, usage.others = server, max(0.0, all - server - ours)


def _used() -> tuple[int, int, int]:
    """Ticks used so far: by all programs, by the server, by this benchmark and its workers."""
    names = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    user, nice, system, _idle, _waiting, *interrupts = (int(value) for value in names)
    return user + nice + system + sum(interrupts[:2]), _family(SERVER.pid()), _family(os.getpid())


def _family(pid: int | None) -> int:
    """A process, its children, and those that it has seen end."""
    total = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            number, _, rest = stat.read_text().partition(" (")
        except OSError:  # it has ended meanwhile
            continue
        values = rest.rpartition(") ")[2].split()
        parent, own, of_ended = int(values[1]), values[11:13], values[13:15]
        if int(number) == pid:
            total += sum(map(int, own + of_ended))
        elif parent == pid:
            total += sum(map(int, own))
    return total
