"""The processes that run from a checkout: which they are, who holds a port, how they are ended.

`python -m config.processes` ends those of the current folder; `make stop` calls it.
"""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

# Python itself runs it: an editor with manage.py open is none of ours.
COMMAND = re.compile(
    r"[Pp]ython[\d.]*(?: -\S+)* (?:\S*/)?manage\.py"
    r"(?: --database[ =]\S+)? (dev|runserver|runworker)\b"
)
ROW = re.compile(r"(\d+) +(\d+) +(\d+) +(\S+) +(.*)")
# After the pid and the name in brackets, which may itself have brackets: state, parent, group.
STAT = re.compile(r".*\) (\S) (\d+) (\d+) ", re.DOTALL)
# What is sent, and for how many seconds its effect is awaited. A worker finishes its jobs after the
# first SIGTERM, and a paid call takes up to 25 s; it releases its jobs after the second.
STEPS = ((signal.SIGTERM, 40), (signal.SIGTERM, 10), (signal.SIGKILL, 10))


@dataclass(frozen=True)
class Process:
    pid: int
    group: int
    parent: int
    command: str

    @property
    def name(self) -> str:
        found = COMMAND.search(self.command)
        return found[1] if found else self.command[:80]


def living() -> list[Process]:
    """The living processes of this user."""
    return listed_by_kernel() if Path("/proc/self/stat").exists() else listed_by_ps()


def listed_by_kernel() -> list[Process]:
    """On Linux, where a container may lack `ps`."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has just ended
            facts = STAT.match((folder / "stat").read_text(errors="replace"))
            if facts and facts[1] != "Z" and folder.stat().st_uid == os.geteuid():
                words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
                command = " ".join(words).strip()
                found.append(Process(int(folder.name), int(facts[3]), int(facts[2]), command))
    return found


def listed_by_ps() -> list[Process]:
    listed = ask("ps", "-ww", "-U", str(os.geteuid()), "-o", "pid=,pgid=,ppid=,stat=,command=")
    rows = [ROW.match(line.strip()) for line in listed.splitlines()]
    return [
        Process(int(row[1]), int(row[2]), int(row[3]), row[5])
        for row in rows
        if row and row[4][0] != "Z"
    ]


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
        return subprocess.run(
            command, check=False, capture_output=True, text=True, errors="replace"
        ).stdout
    return ""


def end(find: Callable[[], Iterable[Process]]) -> list[Process]:
    """End the processes that `find` returns and wait until it finds none; returns them all."""
    ended: dict[int, Process] = {}
    for number, seconds in STEPS:
        give_up = time.monotonic() + seconds
        told = set[int]()
        while (found := list(find())) and time.monotonic() < give_up:
            ended |= {each.pid: each for each in found}
            for each in without_children_of_dev(found):
                if each.pid not in told:
                    told.add(each.pid)
                    with suppress(ProcessLookupError):
                        os.kill(each.pid, number)
            time.sleep(0.1)
        if not found:
            break
    return list(ended.values())


def without_children_of_dev(found: list[Process]) -> list[Process]:
    """Leave out what `dev` passes its signals on to: for a worker two mean "release now"."""
    dev = {each.pid for each in found if each.name == "dev"}
    groups = {each.group for each in found if each.parent in dev}
    return [each for each in found if each.group not in groups]


def main(find: Callable[[], Iterable[Process]]) -> int:
    if find():
        print("Stopping. Jobs that run may finish first.", flush=True)
    found = end(find)
    left = [each.pid for each in find()]
    for each in found:
        outcome = "still running" if each.pid in left else "stopped"
        print(f"{each.name} (process {each.pid}): {outcome}")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main(lambda: ours(Path.cwd())))
