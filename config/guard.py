"""Ends what `manage.py dev` started, if dev itself was killed: kill -9 leaves it no time for that.

    python -m config.guard LOCK [folder of the embedded database]

dev writes the process groups that it starts, one per line, and "done" when it has ended them. If
the input ends without that, dev is dead: the pipe closes with it, on every system.
"""

import fcntl
import sys
from pathlib import Path

from config import processes
from config.embedded.server import Server, ServerError


def main(lock: str, databases: list[str]) -> int:
    with Path(lock).open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # the next dev waits until everything has ended
        told = sys.stdin.read().split()
        return 0 if "done" in told else end({int(group) for group in told}, databases)


def end(groups: set[int], databases: list[str]) -> int:
    def left() -> list[processes.Process]:
        return [each for each in processes.ours(Path.cwd()) if each.group in groups]

    processes.end(left)
    faults = [f"{each.name} (process {each.pid}): still running" for each in left()]
    try:
        for folder in databases:
            Server(Path(folder)).stop()
    except ServerError as error:
        faults.append(str(error))
    too = ", the database too" if databases else ""
    stopped = f"Tabie was killed. Its processes are stopped{too}."
    print("\n".join(["Tabie was killed.", *faults]) if faults else stopped, flush=True)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
