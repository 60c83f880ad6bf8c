"""The processes that a process started."""

import subprocess

from config import processes


def children_of(pid):
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True)
    parents = {
        int(child): int(parent) for child, parent in map(str.split, listed.stdout.splitlines())
    }
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


def alive(pid):
    return pid in [process.pid for process in processes.living()]
