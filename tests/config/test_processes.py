"""How `make stop` ends what runs from a checkout, on a machine that is made up."""

import os
import signal
from types import SimpleNamespace

import pytest

from config import guard, processes
from config.embedded.server import ServerError
from config.processes import Process

DEV = Process(10, 10, 1, "python manage.py dev")
WEB = Process(11, 11, 10, "python manage.py runserver")
RELOADED = Process(12, 11, 11, "python manage.py runserver")
WORKER = Process(13, 13, 1, "python manage.py runworker")


class Machine:
    """Notes every signal and its time. A signal ends a process and what it started."""

    def __init__(self):
        self.living = [DEV, WEB, RELOADED, WORKER]
        self.survived = []  # signals
        self.told = []
        self.now = 0.0

    def find(self):
        return list(self.living)

    def kill(self, pid, number):
        self.told.append((pid, number, round(self.now)))
        if number not in self.survived:
            ended = {each.group for each in self.living if pid in (each.pid, each.parent)}
            self.living = [each for each in self.living if each.group not in ended]

    def sleep(self, seconds):
        self.now += seconds


@pytest.fixture
def machine(monkeypatch):
    machine = Machine()
    monkeypatch.setattr(processes.os, "kill", machine.kill)
    # Not time.sleep itself: threads of other tests may sleep, too.
    clock = SimpleNamespace(sleep=machine.sleep, monotonic=lambda: machine.now)
    monkeypatch.setattr(processes, "time", clock)
    return machine


def test_what_dev_started_is_told_by_dev_alone(machine):
    processes.end(machine.find)

    assert machine.told == [(DEV.pid, signal.SIGTERM, 0), (WORKER.pid, signal.SIGTERM, 0)]


def test_a_paid_call_has_time_before_anything_harsher_follows(machine):
    machine.survived = [signal.SIGTERM]

    processes.end(machine.find)

    signals = [(number, now) for pid, number, now in machine.told if pid == DEV.pid]
    assert signals == [(signal.SIGTERM, 0), (signal.SIGTERM, 40), (signal.SIGKILL, 50)]


def test_what_could_not_be_ended_is_not_called_stopped(machine, capsys):
    machine.survived = [signal.SIGTERM, signal.SIGKILL]
    machine.living = [WORKER]

    assert processes.main(machine.find) == 1
    assert capsys.readouterr().out.splitlines()[1:] == ["runworker (process 13): still running"]


def test_the_guard_does_not_call_stopped_what_is_not(machine, capsys, monkeypatch):
    machine.survived = [signal.SIGTERM, signal.SIGKILL]
    monkeypatch.setattr(processes, "ours", lambda folder: machine.find())

    def refuse(server):
        raise ServerError("The database could not be stopped.")

    monkeypatch.setattr(guard.Server, "stop", refuse)

    assert guard.end({WORKER.group}, ["folder"]) == 1
    assert capsys.readouterr().out == (
        "Tabie was killed.\nrunworker (process 13): still running\n"
        "The database could not be stopped.\n"
    )


@pytest.mark.parametrize("choice", ["", "--database tokyo ", "--database=tokyo "])
def test_a_worker_is_found_whichever_database_it_serves(choice):
    assert (
        Process(1, 1, 1, f"/x/bin/python3 manage.py {choice}runworker --drain").name == "runworker"
    )


def test_processes_are_found_without_the_command_ps(monkeypatch):
    monkeypatch.setenv("PATH", "")

    [this] = [each for each in processes.living() if each.pid == os.getpid()]

    assert (this.group, this.parent) == (os.getpgrp(), os.getppid())
    assert "python" in this.command
