"""Several workers and a person, in any order, with faults: after every step the rows must hold.

The workers are simulated, the database is real. No time passes by itself: leases and waits
last an hour, and a step of the test lets them end.
"""

import functools
from collections import defaultdict
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise
from unittest import mock
from uuid import UUID

import pytest
from django.db import OperationalError, connection
from django.db.models import F
from django.db.models.functions import Now
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from jobs import queue
from jobs.errors import Cancel, LeaseLost, PermanentError, ProviderUnavailable, Snooze, TimedOut
from jobs.models import ENDED, Attempt, Job, Outcome, Status
from jobs.queue import asked, moves, outcomes, retries
from jobs.queue.outcomes import End
from tests.jobs.expected import (
    Change,
    change_by,
    change_by_claim,
    is_abandoned,
    is_held,
    is_living,
    is_suspect,
    look,
    meets_a_raising_hook,
    raising,
)
from tests.testapp.models import HookCall, Hooked

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


@pytest.mark.search
@pytest.mark.timeout(600)  # for Hypothesis to find the shortest example, should it fail
def test_every_job_ends_and_nothing_is_written_twice(transactional_db, monkeypatch, caplog):
    caplog.set_level("CRITICAL", logger="jobs")  # hooks raise often
    monkeypatch.setattr(retries, "backoff", lambda model, failures: HOUR)
    monkeypatch.setattr(retries, "wait_after_loss", lambda interruptions: HOUR)

    run_state_machine_as_test(
        Queue,
        settings=settings(
            max_examples=settings().max_examples // 5,
            stateful_step_count=30,
            deadline=None,
            derandomize=False,
            print_blob=True,
            report_multiple_bugs=False,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )


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
        if next(reading, None) is not None:
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


def ends_meant_by(act, *arguments):
    """The ends that a rescuer or a person is about to write."""
    with mock.patch.object(moves, "settle", return_value=[]) as settle:
        act(*arguments)
    return [(call.args[0], call.kwargs["expected"]) for call in settle.call_args_list]


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


class Queue(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        with connection.cursor() as cursor:
            for model in (Hooked, HookCall, Attempt):
                cursor.execute(f"DELETE FROM {model._meta.db_table}")
        self.workers = {name: SimulatedWorker(name) for name in ("ann", "bob", "cyd")}
        self.claims = defaultdict(dict)  # name -> {epoch: worker}
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
            assert row.interruptions == was.interruptions + (change.outcome == Outcome.LOST)

    def rows_of(self, names):
        return [row for row in self.seen.rows.values() if row.name in names]

    def busy_workers(self):
        return [name for name, worker in self.workers.items() if worker.held or worker.unsure]

    # The queue's moves, as workers and people make them

    @rule(step=st.runner().flatmap(lambda self: steps(*self.possible_steps())))
    def step(self, step):
        name, arguments = step
        getattr(self, name)(**arguments)

    def possible_steps(self):
        rows = self.seen.rows.values()
        found = {row.status for row in rows}
        if self.busy_workers():
            yield from ("settle", "settle", "settle", "beat", "a_slow_person", "vanish")
        if any(row.is_due for row in rows):
            yield from ("work", "claim", "claim")
        if Status.PROCESSING in found:
            yield from ("jobs_are_taken_over", "a_slow_rescuer", "leases_run_out", "rescue")
            yield from ("cancel", "hooks_raise_from_now_on")
        if any(row.is_waiting for row in rows):
            yield "waits_end"
        if any(row.unavailable_since for row in rows):
            yield "the_provider_stays_away"
        if found & set(ENDED):
            yield "requeue"
        if len(rows) < len(NAMES):
            yield "enqueue"

    @initialize(names=some_names)
    def begin(self, names):
        self.enqueue(names, "")

    def enqueue(self, names, hooks):
        before = self.seen
        # Fixed ids and priorities: an example must run the same way every time.
        jobs = [
            Hooked(id=UUID(int=ord(name)), priority=ord(name), name=name, raises_in=hooks)
            for name in names
        ]

        created = queue.enqueue(jobs)

        self.seen = look()
        assert set(self.seen.rows) == {*before.rows, *names}
        assert all(self.seen.about(name) == before.about(name) for name in before.rows)
        new = [row for name, row in self.seen.rows.items() if name not in before.rows]
        assert sorted(created) == sorted(row.id for row in new)
        assert all((row.status, row.epoch, row.is_due) == ("queued", 0, True) for row in new)

    def claim(self, worker, slots, fault):
        for suspect in sorted({is_suspect(row) for row in self.seen.rows.values()}):
            self.claim_of(worker, slots, suspect, fault)

    def claim_of(self, worker, slots, suspect, fault):
        rows = [row for row in self.seen.rows.values() if is_suspect(row) == suspect]
        due = [row for row in rows if row.is_due][:slots]
        changes = {row.name: change_by_claim(row, fault) for row in due}
        one_by_one = any("on_start" in raising(row) for row in due)
        if fault == "commit":
            changes = {}
        elif fault and one_by_one:
            changes = {row.name: changes[row.name] for row in due[:1]}  # claimed one by one
        for name in changes:
            self.claims[name][self.seen.rows[name].epoch + 1] = worker

        claimed = []
        with self.making(changes):
            with losing(fault, looks=one_by_one):
                claimed = queue.claim(Hooked, slots, worker, HOUR, suspect=suspect)
            if not fault:
                started = [n for n, change in changes.items() if change.status == "processing"]
                assert [job.name for job in claimed] == started
        self.workers[worker].held += claimed

    def beat(self):
        for worker in self.busy_workers():
            self.beat_of(self.workers[worker])

    def beat_of(self, worker):
        # The newest claim of each job, including those that are being settled.
        claims = {job.name: job for job in [*(end.job for end in worker.unsure), *worker.held]}
        rows = self.seen.rows
        ours = {n for n, job in claims.items() if is_held(End(job, Outcome.LOST), rows[n])}

        answer = queue.beat(
            Hooked, {job.id: job.epoch for job in claims.values()}, worker.name, HOUR
        )

        assert answer == {claims[name].id for name in ours}
        before, self.seen = self.seen, look()
        for name, row in self.seen.rows.items():
            was, attempts, hooks = before.about(name)
            if name in ours:
                assert not row.is_expired
                was = was._replace(lease_expires_at=row.lease_expires_at, is_expired=False)
            assert self.seen.about(name) == (was, attempts, hooks)

    def settle(self, worker, kinds, newest, fault):
        """End some claims, fresh and stale, and repeat the ends that were not confirmed."""
        worker = self.workers[worker]
        held = sorted(worker.held, key=lambda job: job.epoch, reverse=newest)
        worker.unsure += [ENDS[kind](job) for kind, job in zip(kinds, held, strict=False)]
        worker.held = held[len(kinds) :]
        if worker.unsure:
            self.write(worker.unsure, is_held, queue.settle, worker.unsure, fault=fault)
        if not fault:
            worker.unsure = []

    def work(self, worker, slots, kinds, fault):
        self.waits_end()
        self.claim(worker, slots, None)
        self.settle(worker, kinds, True, fault)

    def write(self, ends, is_expected, act, *arguments, fault=None):
        """Let `act` write these ends; only those whose job is as expected may be written."""
        row_of = {row.id: row for row in self.seen.rows.values()}
        ours = [end for end in ends if is_expected(end, row_of[end.job.id])]
        missed = [end for end in ends if end not in ours]
        written = ours
        if fault == "commit":
            written = []
        elif fault and any(meets_a_raising_hook(end, row_of[end.job.id]) for end in ours):
            written = [end for end in ours if end is ends[0]]  # written one by one
        changes = {}
        for end in written:
            row = row_of[end.job.id]
            changes[row.name] = change_by(end, row)
        with self.making(changes), losing(fault if ends else None, looks=act is queue.rescue):
            answer = act(*arguments)
            if act is queue.settle:
                assert answer == missed
            elif act is queue.rescue:
                assert [end.job.id for end in answer] == [end.job.id for end in ours]
            elif act in (queue.cancel, asked._cancel):
                assert {job.id for job in answer} == {end.job.id for end in ours}

    def rescue(self, fault):
        expired = [row for row in self.rows_of(self.seen.rows) if row.is_expired]
        ends = [End(row, Outcome.LOST) for row in expired]
        self.write(ends, is_abandoned, queue.rescue, Hooked, fault=fault)

    def cancel(self, names, fault):
        living = [row for row in self.rows_of(names) if row.status not in ENDED]
        ends = [End(row, Outcome.CANCELED) for row in living]
        jobs = Hooked.objects.filter(name__in=names)
        self.write(ends, is_living, queue.cancel, jobs, fault=fault)

    def a_slow_rescuer(self, names, by, meanwhile):
        """Between the rescuer's read and its write, other workers act."""
        self.leases_run_out(names)
        looked = ends_meant_by(queue.rescue, Hooked)
        if meanwhile == "beat":
            self.beat()
        else:
            self.jobs_are_taken_over(names, by)
        if meanwhile == "lost again":
            self.leases_run_out(names)
        for ends, expected in looked:
            self.write(ends, is_abandoned, queue.settle, ends, expected)

    def a_slow_person(self, names, worker, kinds):
        """Between the person's look and the cancel, a worker settles jobs."""
        looked = [row.id for row in self.rows_of(names) if row.status not in ENDED]
        self.settle(worker, kinds, True, None)
        ends = [End(row, Outcome.CANCELED) for row in self.rows_of(names) if row.id in looked]
        self.write(ends, is_living, asked._cancel, Hooked, looked, "too late?")

    def requeue(self, names):
        selected = self.rows_of(names)
        ended = [row for row in selected if row.status in ENDED]
        changes = {}
        for row in ended:
            hook = None if "on_requeue" in raising(row) else "on_requeue"
            changes[row.name] = Change(Status.QUEUED, new_epoch=True, hook=hook)
        with self.making(changes):
            answer = queue.requeue(Hooked.objects.filter(name__in=names))
            assert len(answer) == len(ended)

    # The world

    def vanish(self, worker):
        self.workers[worker] = SimulatedWorker(worker)

    def leases_run_out(self, names):
        held = Hooked.objects.filter(name__in=names, status=Status.PROCESSING)
        held.update(lease_expires_at=Now() - HOUR)
        self.seen = look()

    def waits_end(self):
        Hooked.objects.filter(status=Status.QUEUED).update(run_after=Now())
        self.seen = look()

    def jobs_are_taken_over(self, names, by):
        """The old workers don't know of it; their later writes must change nothing."""
        self.leases_run_out(names)
        self.rescue(None)
        self.waits_end()
        self.claim(by, 3, None)

    def the_provider_stays_away(self, worker):
        patience = Hooked.patience + HOUR
        Hooked.objects.update(unavailable_since=F("unavailable_since") - patience)
        self.seen = look()
        self.work(worker, 3, ["unavailable"] * 3, None)

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
    def every_success_has_one_effect(self):
        for name in self.seen.rows:
            ends = [outcome for _, _, outcome in self.seen.attempts[name].elements()]
            assert self.seen.hooks[name]["on_success"] == ends.count(Outcome.SUCCEEDED)

    @invariant()
    def who_has_the_epoch_has_the_job(self):
        for worker in self.workers.values():
            for job in [*worker.held, *(end.job for end in worker.unsure)]:
                row = self.seen.rows[job.name]
                if row.status == Status.PROCESSING and row.epoch == job.epoch:
                    assert row.locked_by == worker.name

    def teardown(self):
        """With one worker without faults and enough time, every job ends."""
        if not self.is_sound:
            return  # a step has already failed
        honest = self.workers["honest"] = SimulatedWorker("honest")
        for _ in range(3):  # one more than a Hooked has attempts
            self.leases_run_out(list(self.seen.rows))
            self.rescue(None)
            self.waits_end()
            self.claim("honest", 3, None)
            self.settle("honest", ["succeed"] * len(honest.held), False, None)
            if all(row.status in ENDED for row in self.seen.rows.values()):
                return
        raise AssertionError("a job never ends")
