"""What may happen to the queue in the state machine, and what must hold whatever happens."""

import functools
from collections import Counter, defaultdict
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise
from unittest import mock

from django.db import OperationalError, connection
from django.db.models.functions import Now
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant
from psycopg.pq import TransactionStatus

from jobs import queue
from jobs.errors import Cancel, LeaseLost, PermanentError, ProviderUnavailable, Snooze, TimedOut
from jobs.models import ENDED, Attempt, Job, Outcome, Process, Status, Total
from jobs.queue import outcomes, processes, settling, totals
from jobs.queue.outcomes import End
from tests.jobs.expected import look
from tests.testapp.models import HookCall, Hooked, NoopJob

HOUR = timedelta(hours=1)
OWN_FAULT = (Outcome.FAILED, Outcome.TIMED_OUT)

# How a worker ends a claim.
ENDS = {
    "succeed": lambda job: End(job, Outcome.SUCCEEDED, result="done"),
    "fail": lambda job: outcomes.from_error(job, ValueError("this time")),
    "fail for good": lambda job: outcomes.from_error(job, PermanentError("for good")),
    "snooze": lambda job: outcomes.from_error(job, Snooze(3600)),
    "unavailable": lambda job: outcomes.from_error(job, ProviderUnavailable(3600)),
    "release": lambda job: outcomes.from_error(job, LeaseLost("stopping")),
    "cancel": lambda job: outcomes.from_error(job, Cancel("not needed")),
    "time out": lambda job: outcomes.failure(job, TimedOut("hangs"), Outcome.TIMED_OUT),
}

NAMES = "abc"
some_ends = st.lists(st.sampled_from(list(ENDS)), max_size=3)
some_names = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3)
raising_hooks = st.just("") | st.sampled_from(
    ["on_start", "on_success", "on_failure", "on_cancel", "on_requeue", "on_success on_failure"]
)
# The connection breaks before the commit, or after it but before the reply.
faults = st.sampled_from([None, None, "commit", "reply"])
slots = st.integers(1, 3)
anybody = st.sampled_from(["ann", "bob", "cyd"])
busy = st.runner().flatmap(lambda self: st.sampled_from(self.busy_workers()))


@dataclass
class SimulatedWorker:
    name: str
    held: list[Job] = field(default_factory=list)  # claims it believes to hold; they may be gone
    unsure: list[End] = field(default_factory=list)  # ends whose commit was not confirmed


ARGUMENTS = {
    "enqueue": {"names": some_names, "hooks": raising_hooks},
    "claim": {"worker": anybody, "slots": slots, "fault": faults},
    "work": {"worker": anybody, "slots": slots, "kinds": some_ends, "fault": faults},
    "beat": {},
    "settle": {"worker": busy, "kinds": some_ends, "newest": st.booleans(), "fault": faults},
    "rescue": {"fault": faults},
    "a_slow_rescuer": {
        "names": some_names,
        "by": anybody,
        "meanwhile": st.sampled_from(["beat", "taken", "lost again"]),
    },
    "cancel": {"names": some_names, "fault": faults},
    "a_slow_person": {"names": some_names, "worker": busy, "kinds": some_ends},
    "requeue": {"names": some_names},
    "vanish": {"worker": busy},
    "leases_run_out": {"names": some_names},
    "waits_end": {},
    "jobs_are_taken_over": {"names": some_names, "by": anybody},
    "claims_are_forgotten": {"names": some_names, "by": anybody},
    "the_provider_stays_away": {"worker": anybody},
    "hooks_raise_from_now_on": {"names": some_names, "hooks": raising_hooks},
}


@functools.cache
def steps(*names):
    """One of these steps, with its arguments.

    They are not separate @rules: Hypothesis leaves out half of the rules in every example, and
    a queue that claims but never settles, or settles without a claim, tests nothing.
    """
    return st.one_of(
        st.tuples(st.just(name), st.fixed_dictionaries(ARGUMENTS[name])) for name in names
    )


class Checked(RuleBasedStateMachine):
    """Knows what it saw last, and checks every change against what was expected."""

    def __init__(self):
        super().__init__()
        with connection.cursor() as cursor:
            for model in (Hooked, HookCall, Attempt, Total, Process, NoopJob):
                cursor.execute(f"DELETE FROM {model._meta.db_table}")
        self.workers = {name: SimulatedWorker(name) for name in ("ann", "bob", "cyd")}
        self.claims = defaultdict(dict)  # name -> {epoch: worker}
        self.process = processes.start("all of them", then=NoopJob())
        self.seen = look()
        self.is_sound = True

    @contextmanager
    def making(self, changes):
        """Check that the block makes exactly these changes and no others."""
        self.is_sound = False
        before = self.seen
        yield
        now = self.seen = look()
        assert now.rows.keys() == before.rows.keys(), "no job is lost"
        for name in now.rows:
            if name in changes:
                self.check_change(changes[name], before.about(name), now.about(name))
            else:
                assert now.about(name) == before.about(name)
        self.is_sound = True

    def check_change(self, change, before, now):
        (was, had_attempts, had_hooks), (row, attempts, hooks) = before, now
        assert row.status == change.status
        claimed_and_ended = was.status == Status.QUEUED and change.outcome is not None
        path = [was.status, *[Status.PROCESSING] * claimed_and_ended, row.status]
        assert all(to in queue.MOVES[status] for status, to in pairwise(path))
        assert row.epoch == was.epoch + change.new_epoch
        ran = list((hooks - had_hooks).elements())
        ended = [outcome for _, _, outcome in (attempts - had_attempts).elements()]
        assert ran == ([change.hook] if change.hook else [])
        assert ended == ([change.outcome] if change.outcome else [])
        if was.status in ENDED:
            assert (row.attempts, row.interruptions, row.is_due) == (0, 0, True)
            assert row.last_error == was.last_error
        else:
            assert row.attempts == was.attempts + (change.outcome in OWN_FAULT)
            kept = 0 if change.outcome == Outcome.SNOOZED else was.interruptions
            assert row.interruptions == kept + (change.outcome == Outcome.LOST)

    def rows_of(self, names):
        return [row for row in self.seen.rows.values() if row.name in names]

    def busy_workers(self):
        return [name for name, worker in self.workers.items() if worker.held or worker.unsure]

    # What happens to workers and rows

    def vanish(self, worker):
        self.workers[worker] = SimulatedWorker(worker)

    def leases_run_out(self, names):
        held = Hooked.objects.filter(name__in=names, status=Status.PROCESSING)
        held.update(lease_expires_at=Now() - HOUR)
        self.seen = look()

    def waits_end(self):
        Hooked.objects.filter(status=Status.QUEUED).update(run_after=Now())
        self.seen = look()

    def hooks_raise_from_now_on(self, names, hooks):
        Hooked.objects.filter(name__in=names).update(raises_in=hooks)
        self.seen = look()

    # What always holds

    @invariant()
    def columns_agree_with_the_status(self):
        for row in self.seen.rows.values():
            held = (row.locked_at, row.locked_by, row.lease_expires_at)
            assert all(held) if row.status == Status.PROCESSING else held == (None, None, None)
            assert (row.finished_at is not None) == (row.status in ENDED)
            assert 0 <= row.attempts <= row.max_attempts

    @invariant()
    def every_claim_is_in_history_once_when_it_has_ended(self):
        for name, row in self.seen.rows.items():
            ends = [(epoch, worker) for epoch, worker, _ in self.seen.attempts[name].elements()]
            if row.status == Status.PROCESSING:
                ends.append((row.epoch, row.locked_by))
            assert sorted(ends) == sorted(self.claims[name].items())

    @invariant()
    def every_end_is_counted_once(self):
        ends = Counter(
            outcome
            for name in self.seen.rows
            for *_, outcome in self.seen.attempts[name].elements()
        )
        assert {way: counted.number for (way,), counted in totals.sums("outcome").items()} == ends

    @invariant()
    def every_success_has_one_effect(self):
        for name in self.seen.rows:
            ends = [outcome for _, _, outcome in self.seen.attempts[name].elements()]
            assert self.seen.hooks[name]["on_success"] == ends.count(Outcome.SUCCEEDED)

    @invariant()
    def who_has_the_epoch_has_the_job(self):
        for worker in self.workers.values():
            for job in [*worker.held, *(end.job for end in worker.unsure)]:
                row = self.seen.rows[job.name]
                claim = (Status.PROCESSING, job.epoch, job.locked_by)
                if (row.status, row.epoch, row.locked_by) == claim:
                    assert row.locked_by == worker.name

    @invariant()
    def the_process_counts_its_jobs(self):
        process = Process.objects.get()
        status = Counter(row.status for row in self.seen.rows.values() if row.process_id)
        living = status[Status.QUEUED] + status[Status.PROCESSING]
        assert (process.total, process.open) == (status.total(), living)
        counted = (process.succeeded, process.failed, process.canceled)
        assert counted == tuple(status[end] for end in ENDED)
        assert (process.ended_at is not None) == (process.sealed and not living)
        assert (process.followed_at is not None) >= (process.ended_at is not None)
        assert NoopJob.objects.count() == (process.followed_at is not None)


# What goes wrong


@contextmanager
def losing(moment, looks=0):
    """Break the connection at the first commit: the reply, or also the commit, is lost.

    `looks` commits before it belong to transactions that only read.
    """
    if moment is None:
        yield
        return
    real = connection.commit
    broken = []

    reading = iter(range(looks))

    def commit():
        if is_unused(connection) or next(reading, None) is not None:
            real()
            return
        if moment == "reply":
            real()
        connection.close()
        broken.append(moment)
        raise OperationalError("server closed the connection unexpectedly")

    with mock.patch.object(connection, "commit", commit), suppress(OperationalError):
        yield
    assert broken == [moment], "nothing was tried after the first fault"


def is_unused(connection):
    """Whether nothing was sent in this transaction, so that its commit sends nothing either."""
    if connection.vendor == "sqlite":
        return False
    return connection.connection.info.transaction_status == TransactionStatus.IDLE


def ends_meant_by(act, *arguments):
    """The ends that a rescuer or a person is about to write."""
    with mock.patch.object(settling, "settle", return_value=[]) as settle:
        act(*arguments)
    return [(call.args[0], call.kwargs["expected"]) for call in settle.call_args_list]
