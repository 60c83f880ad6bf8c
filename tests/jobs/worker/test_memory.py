"""A worker's memory does not grow with its slots."""

import os
import subprocess
import sys

import pytest

from jobs.worker import memory

WORKS_IN_SLOTS = """
import os, sys, threading
from jobs.worker import memory

SLOTS = 12

def rss():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1_000_000

def work():
    for _ in range(3):
        held = [bytearray(b"x") * 10_000_000 for _ in range(2)]
        del held
    ends.wait()
    goes_on.wait()  # a slot's thread stays

if "share" in sys.argv:
    memory.share_arenas()
ends, goes_on = threading.Barrier(SLOTS + 1), threading.Event()
before = rss()
for _ in range(SLOTS):
    threading.Thread(target=work, daemon=True).start()
ends.wait()
print(rss() - before)
"""


def kept(*arguments):
    command = [sys.executable, "-c", WORKS_IN_SLOTS, *arguments]
    usual = {name: value for name, value in os.environ.items() if name != "MALLOC_ARENA_MAX"}
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=usual)
    return int(run.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_what_many_slots_have_freed_is_given_back():
    assert kept("share") < kept() / 1.5  # some 100 MB; 240 if every slot keeps its own


def test_a_c_library_without_arenas_is_no_fault(monkeypatch):
    monkeypatch.setattr("jobs.worker.memory.ctypes.CDLL", lambda _: object())

    memory.share_arenas()
