"""Several workers and a person, in any order, with faults: after every step the rows must hold.

The workers are simulated, the database is real. No time passes by itself: leases and waits
last an hour, and a step of the test lets them end.
"""

from uuid import UUID

import pytest
from django.db.models import F
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule, run_state_machine_as_test

from jobs import queue
from jobs.models import ENDED, Outcome, Status
from jobs.queue import asked, moves, processes, retries
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
from tests.jobs.histories import (
    ENDS,
    HOUR,
    NAMES,
    Checked,
    SimulatedWorker,
    ends_meant_by,
    losing,
    some_names,
    steps,
)
from tests.testapp.models import Hooked


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


class Queue(Checked):
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
            yield from ("cancel", "hooks_raise_from_now_on", "claims_are_forgotten")
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
        processes.seal(self.process)

    def enqueue(self, names, hooks):
        before = self.seen
        self.process.refresh_from_db()
        joins = {} if self.process.ended_at else {"process_id": self.process.pk}
        # Fixed ids and priorities: an example must run the same way every time.
        jobs = [
            Hooked(id=UUID(int=ord(name)), priority=ord(name), name=name, raises_in=hooks, **joins)
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
        first = {}  # of two ends of one claim only the first is written
        for end in ends:
            if is_expected(end, row_of[end.job.id]):
                first.setdefault(end.job.id, end)
        written = ours = list(first.values())
        missed = [end for end in ends if end not in ours]
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

    def jobs_are_taken_over(self, names, by):
        """The old workers don't know of it; their later writes must change nothing."""
        self.leases_run_out(names)
        self.rescue(None)
        self.waits_end()
        self.claim(by, 3, None)

    def claims_are_forgotten(self, names, by):
        """A failover loses the commits of these claims, and another worker claims the jobs.

        It is given the same epochs. The old workers don't know of it.
        """
        known = {job.name for job in self.workers[by].held}  # one's own claim is not repeated
        for row in self.rows_of(names):
            if row.status == Status.PROCESSING and row.name not in known:
                Hooked.objects.filter(id=row.id).update(
                    status=Status.QUEUED, epoch=row.epoch - 1, **moves.NOT_HELD
                )
                del self.claims[row.name][row.epoch]
        self.waits_end()
        self.claim(by, 3, None)

    def the_provider_stays_away(self, worker):
        patience = Hooked.patience + HOUR
        Hooked.objects.update(unavailable_since=F("unavailable_since") - patience)
        self.seen = look()
        self.work(worker, 3, ["unavailable"] * 3, None)

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
