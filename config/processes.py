"""The processes that run from a checkout: which they are, who holds a port, how they are ended.

`python -m config.processes` ends those of the current folder; `make stop` calls it.
"""

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

# Python itself runs it: an editor with manage.py open is none of ours.
COMMAND = re.compile(r"[Pp]ython[\d.]*(?: -\S+)* (?:\S*/)?manage\.py (dev|runserver|runworker)\b")
ROW = re.compile(r"(\d+) +(\d+) +(\S+) +(.*)")
# What is sent, and for how many seconds its effect is awaited. A worker finishes its jobs after the
# first SIGTERM and releases them after the second.
STEPS = ((signal.SIGTERM, 5), (signal.SIGTERM, 10), (signal.SIGKILL, 10))


@dataclass(frozen=True)
class Process:
    pid: int
    group: int
    command: str

    @property
    def name(self) -> str:
        found = COMMAND.search(self.command)
        return found[1] if found else self.command[:80]


def living() -> list[Process]:
    """The living processes of this user."""
    user = str(os.geteuid())
    listed = subprocess.run(
        ["ps", "-ww", "-U", user, "-o", "pid=,pgid=,stat=,command="],
        check=False,
        capture_output=True,
        text=True,
        errors="replace",
    )
    rows = [ROW.match(line.strip()) for line in listed.stdout.splitlines()]
    return [Process(int(row[1]), int(row[2]), row[4]) for row in rows if row and row[3][0] != "Z"]


def ours(folder: Path) -> list[Process]:
    """The web servers, workers and supervisors that run in this folder."""
    found = (each for each in living() if COMMAND.search(each.command))
    return [each for each in found if each.pid != os.getpid() and runs_in(each.pid, folder)]


def runs_in(pid: int, folder: Path) -> bool:
    try:
        place = os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        place = ask("lsof", "-a", "-p", str(pid), "-d", "cwd", "-Fn").partition("\nn")[2].strip()
    return bool(place) and Path(place).resolve() == folder.resolve()


def listener(port: int) -> Process | None:
    """The process that listens at a port of this machine, if this user may know it."""
    pids = [each for each in living() if holds(each.pid, port)]
    return pids[0] if pids else None


def holds(pid: int, port: int) -> bool:
    if not Path("/proc/net/tcp").exists():
        return bool(ask("lsof", "-a", "-p", str(pid), f"-iTCP:{port}", "-sTCP:LISTEN", "-t"))
    wanted = {f"socket:[{inode}]" for inode in listening(port)}
    with suppress(OSError):
        for handle in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                if os.readlink(handle) in wanted:
                    return True
    return False


def listening(port: int) -> list[str]:
    """The inodes of sockets that listen at a port."""
    rows = []
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with suppress(OSError):
            rows += [line.split() for line in Path(table).read_text().splitlines()[1:]]
    return [row[9] for row in rows if row[1].endswith(f":{port:04X}") and row[3] == "0A"]


def ask(*command: str) -> str:
    with suppress(OSError):
        return subprocess.run(command, check=False, capture_output=True, text=True).stdout
    return ""


def end(find: Callable[[], Iterable[Process]]) -> list[Process]:
    """End the processes that `find` returns and wait until it finds none; returns them all."""
    ended: dict[int, Process] = {}
    for number, seconds in STEPS:
        give_up = time.monotonic() + seconds
        told = set[int]()
        while (found := list(find())) and time.monotonic() < give_up:
            for each in found:
                ended[each.pid] = each
                if each.pid not in told:
                    told.add(each.pid)
                    with suppress(ProcessLookupError):
                        os.kill(each.pid, number)
            time.sleep(0.1)
        if not found:
            break
    return list(ended.values())


if __name__ == "__main__":
    for process in end(lambda: ours(Path.cwd())):
        print(f"{process.name} (process {process.pid}): stopped")
