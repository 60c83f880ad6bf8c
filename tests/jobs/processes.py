"""Real worker processes on the test's database, and how to wait for what they do."""

import os
import random
import signal
import sqlite3
import time
from collections import Counter, defaultdict
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import DatabaseError, connection
from django.db.models.functions import Now

from jobs import queue
from jobs.models import Attempt, Status, Worker
from tests.jobs import forked
from tests.testapp.models import Chore, Effect

PATIENCE = 90  # seconds; it only keeps a broken test from hanging
LEASE = 60  # so long that no lease ends during a test, even on a slow machine
SHORT = 2  # the shortest lease allowed
BEATS = 12  # a living worker rescues an expired job within this many beats


def prelude(code):
    """Code for a worker process to run before its command, with Django set up."""
    return (
        "import django; django.setup(); from datetime import timedelta; "
        f"from jobs.worker.loop import Loop; from tests.testapp.models import Chore; {code}"
    )


# Starting and ending


class WorkerProcess:
    """`manage.py runworker` on the database that this process uses.

    With a gate, no job ends before the test opens the gate.
    """

    def __init__(
        self, log, *options, before="", url="", lease=LEASE, slots=4, gate=False, variables=None
    ):
        self.log_file = log
        self.gate = log.with_suffix(".gate")
        defaults = ["--poll=0.2", f"--lease={lease}", f"--max-concurrent={slots}"]
        log.touch()
        self.process = forked.start(
            ["runworker", *defaults, *options],
            environment=os.environ
            | environment()
            | ({"DATABASE_URL": url} if url else {})
            | ({"GATE": str(self.gate)} if gate else {})
            | (variables or {}),
            stderr=log,
            before=before,
        )

    def open_gate(self):
        self.gate.touch()

    def close_gate(self):
        self.gate.unlink()

    def kill(self):
        self.process.kill()
        self.process.join()

    def expire(self, model=Chore):
        """End its leases, as if the dead or frozen worker had been silent for a whole lease."""
        wait_until(is_quiet)  # its last beat may be on the way
        past = Now() - timedelta(seconds=1)
        for leases in (self.jobs_of(model), self.row):
            leases.update(lease_expires_at=past)

    def terminate(self):
        self.process.terminate()

    def pause(self):
        """Freeze the worker, but on SQLite not while it holds the lock of the whole database."""
        self.freeze()
        while not is_writable():
            self.resume()
            time.sleep(0.01)
            self.freeze()

    def freeze(self):
        """Stop the process, and wait until all of its threads stand still."""
        self.signal(signal.SIGSTOP)
        wait_until(lambda: self.is_frozen)

    @property
    def is_frozen(self):
        threads = Path(f"/proc/{self.process.pid}/task").glob("*/stat")
        try:
            states = {stat.read_text().rpartition(")")[2].split()[0] for stat in threads}
        except OSError:  # a thread has ended meanwhile
            return False
        return states == {"T"}

    def resume(self):
        self.signal(signal.SIGCONT)

    def signal(self, number):
        os.kill(self.process.pid, number)

    def exit_code(self):
        self.process.join(PATIENCE)
        assert self.has_ended, f"still running after {PATIENCE} s"
        return self.process.exitcode

    @property
    def has_ended(self):
        return self.process.exitcode is not None

    @property
    def log(self):
        return self.log_file.read_text()

    @property
    def row(self):
        return Worker.objects.filter(name__contains=f":{self.process.pid}:")

    @property
    def is_listed(self):
        return self.row.exists()

    @property
    def jobs(self):
        """The jobs the worker holds."""
        return self.jobs_of(Chore)

    def jobs_of(self, model):
        return model.objects.filter(locked_by__contains=f":{self.process.pid}:")


@pytest.fixture
def start(transactional_db, tmp_path):
    """Start worker processes; the fixture ends all of them."""
    started = []

    def start(*options, **how):
        worker = WorkerProcess(tmp_path / f"worker-{len(started)}.log", *options, **how)
        started.append(worker)
        return worker

    yield start
    for worker in started:
        worker.kill()
        print(f"--- {worker.log_file.name}, exit code {worker.exit_code()}\n{worker.log}")


def url_of(name):
    """A database with this name, or in this file, as the one that this process is connected to."""
    host = connection.settings_dict["HOST"]
    if connection.vendor == "sqlite":
        return f"sqlite:///{name}"
    return f"postgresql:///{host}/{name}" if host.startswith("/") else f"postgresql://{host}/{name}"


def environment():
    """How another process reaches the database that this one is connected to."""
    to = connection.settings_dict
    variables = {
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "DATABASE_URL": url_of(to["NAME"]),
        "PGUSER": to["USER"],
        "PGPASSWORD": to["PASSWORD"],
        "PGPORT": str(to["PORT"]),
        "PGAPPNAME": "worker under test",
    }
    return {name: value for name, value in variables.items() if value}


def is_writable():
    if connection.vendor != "sqlite":
        return True
    other = sqlite3.connect(connection.settings_dict["NAME"], timeout=0.1, isolation_level=None)
    try:
        other.execute("BEGIN IMMEDIATE")
        return True
    except sqlite3.OperationalError:
        return False
    finally:
        other.close()


def is_quiet():
    """Whether the database runs no query of a worker."""
    if connection.vendor != "postgresql":
        return True
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE state = 'active'"
            " AND datname = current_database() AND application_name = 'worker under test')"
        )
        return cursor.fetchone()[0]


# Asking and waiting


def wait_until(condition):
    """Wait until a condition is true; the database may be down meanwhile."""
    give_up = time.monotonic() + PATIENCE
    while True:
        try:
            if answer := condition():
                return answer
        except DatabaseError:
            connection.close()
        if time.monotonic() > give_up:
            pytest.fail(f"Not within {PATIENCE} s; the jobs are {statuses()}.", pytrace=True)
        time.sleep(0.02)


def enqueue_chores(count, seconds=0.0, script="", **columns):
    """Enqueue jobs that take at least `seconds`, outside a transaction; returns their ids."""
    return queue.enqueue(
        Chore(
            name=f"{script or 'chore'} {random.getrandbits(64)}",
            script=script,
            seconds=seconds,
            **columns,
        )
        for _ in range(count)
    )


def statuses():
    """How many jobs there are in which status."""
    return Counter(Chore.objects.values_list("status", flat=True))


def count_processing():
    return Chore.objects.filter(status=Status.PROCESSING).count()


def count_begun():
    """Count the jobs that have reported their start: those that sign or listen."""
    return Chore.objects.filter(progress__isnull=False).count()


def count_effects():
    return Effect.objects.count()


def all_ended():
    return not Chore.objects.filter(status__in=[Status.QUEUED, Status.PROCESSING]).exists()


class AllEndedInTime:
    """Whether every job has ended; until then, check that expired claims are rescued in time.

    The limit is BEATS of a living worker, not seconds: a slow machine has slow beats.
    """

    def __init__(self):
        self.overdue = {}  # expired claim -> the beats of every worker since then

    def __call__(self):
        workers = list(Worker.objects.values_list("name", "last_beat_at"))
        expired = set(Chore.objects.expired().values_list("id", "epoch"))
        self.overdue = {claim: self.overdue.get(claim, defaultdict(set)) for claim in expired}
        for beats in self.overdue.values():
            for name, beat in workers:
                beats[name].add(beat)
                assert len(beats[name]) <= BEATS, f"{name} lives and has not rescued it"
        return all_ended()


def wait_until_all_ended_in_time():
    wait_until(AllEndedInTime())


def outcomes_of(job_id):
    """The outcomes of the job's claims, in order."""
    attempts = Attempt.objects.filter(job_id=job_id).order_by("epoch")
    return list(attempts.values_list("outcome", flat=True))


def assert_each_done_once(ids):
    """Every job was done exactly once, and the history agrees."""
    assert statuses() == {Status.SUCCEEDED: len(ids)}
    assert Counter(Effect.objects.values_list("job_id", flat=True)) == Counter(ids)
    successes = Attempt.objects.filter(outcome="succeeded")
    assert Counter(successes.values_list("job_id", flat=True)) == Counter(ids)
    claims = Counter(Attempt.objects.values_list("job_id", "epoch"))
    assert set(claims.values()) == {1}
