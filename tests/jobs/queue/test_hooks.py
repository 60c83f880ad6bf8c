import signal
import sys
from contextlib import suppress
from unittest.mock import Mock

import pytest
from django.db import IntegrityError

from jobs import queue
from jobs.errors import PermanentError
from jobs.models import Attempt, Outcome, Status
from jobs.queue.outcomes import End
from tests.jobs.unreadable import Unreadable
from tests.testapp.models import HookCall, Hooked

pytestmark = pytest.mark.django_db(transaction=True)


def test_hooks_run_once_for_each_move(worker):
    queue.enqueue([Hooked(name="a")])
    worker.succeed(worker.claim_one(Hooked))
    queue.requeue(Hooked.objects.all())
    worker.fail(worker.claim_one(Hooked), PermanentError("no"))
    queue.requeue(Hooked.objects.all())
    queue.cancel(Hooked.objects.all())

    assert hooks() == [
        "on_start",
        "on_success",
        "on_requeue",
        "on_start",
        "on_failure",
        "on_requeue",
        "on_cancel",
    ]


def ended(worker, *names):
    queue.enqueue([Hooked(name=name) for name in names])
    for job in worker.claim(Hooked, slots=len(names)):
        worker.succeed(job)
    HookCall.objects.all().delete()
    return Hooked.objects.all()


def waiting(worker, *names):
    queue.enqueue([Hooked(name=name) for name in names])
    return Hooked.objects.all()


for_many = pytest.mark.parametrize(
    ("act", "hook", "given"),
    [(queue.requeue, "on_requeue", ended), (queue.cancel, "on_cancel", waiting)],
)


@for_many
def test_many_jobs_share_one_call_if_their_model_has_it(worker, monkeypatch, act, hook, given):
    told = []
    note = classmethod(lambda cls, jobs: told.append(sorted(job.name for job in jobs)))
    monkeypatch.setattr(Hooked, f"{hook}_all", note, raising=False)

    act(given(worker, "a", "b", "c"))

    assert (told, hooks()) == ([["a", "b", "c"]], [])


@for_many
def test_if_the_call_for_all_raises_each_job_is_called(worker, monkeypatch, act, hook, given):
    broken = Mock(side_effect=RuntimeError("one of them is odd"))
    monkeypatch.setattr(Hooked, f"{hook}_all", broken, raising=False)

    moved = act(given(worker, "a", "b"))

    assert (len(moved), hooks()) == (2, [hook, hook])


def test_a_retry_calls_no_hook(worker):
    queue.enqueue([Hooked(name="a")])

    worker.fail(worker.claim_one(Hooked), ValueError("try again"))

    assert hooks() == ["on_start"]


def test_on_start_that_raises_is_an_attempt_of_the_guilty_job_alone(worker):
    queue.enqueue([Hooked(name="a"), Hooked(name="b", raises_in="on_start"), Hooked(name="c")])

    claimed = worker.claim(Hooked, slots=3)

    assert sorted(job.name for job in claimed) == ["a", "c"]
    guilty = Hooked.objects.get(name="b")
    assert (guilty.status, guilty.attempts) == (Status.QUEUED, 1)
    assert guilty.last_error == "on_start was told to raise"
    assert Attempt.objects.get().job_id == guilty.id


def test_on_success_that_raises_is_an_attempt_of_the_guilty_job_alone(worker):
    queue.enqueue([Hooked(name="a"), Hooked(name="b", raises_in="on_success"), Hooked(name="c")])
    jobs = worker.claim(Hooked, slots=3)

    assert worker.succeed(*jobs) == []

    statuses = dict(Hooked.objects.values_list("name", "status"))
    assert statuses == {"a": "succeeded", "b": "queued", "c": "succeeded"}
    assert HookCall.objects.filter(hook="on_success").count() == 2


def test_what_a_hook_wrote_before_it_raised_is_rolled_back(worker):
    queue.enqueue([Hooked(name="a", raises_in="on_success")])

    worker.succeed(worker.claim_one(Hooked))

    assert hooks() == ["on_start"]


@pytest.mark.parametrize(
    ("hook", "status"),
    [("on_failure", "failed"), ("on_cancel", "canceled"), ("on_requeue", "queued")],
)
def test_other_hooks_that_raise_do_not_keep_the_job_from_moving(worker, hook, status, caplog):
    queue.enqueue([Hooked(name="guilty", raises_in=hook), Hooked(name="innocent")])
    jobs = worker.claim(Hooked, slots=2)

    if hook == "on_cancel":
        queue.cancel(Hooked.objects.all())
    else:
        error = PermanentError("no")
        queue.settle([End(job, Outcome.FAILED, error=error, final=True) for job in jobs])
    if hook == "on_requeue":
        queue.requeue(Hooked.objects.all())

    assert list(Hooked.objects.values_list("status", flat=True)) == [status, status]
    assert HookCall.objects.filter(hook=hook).count() == 1
    assert f"{hook} raised" in caplog.text


def test_a_success_hook_and_a_failure_hook_that_both_raise_still_end_the_job(worker):
    queue.enqueue([Hooked(name="a", raises_in="on_success on_failure", max_attempts=1)])

    worker.succeed(worker.claim_one(Hooked))

    assert Hooked.objects.get().status == Status.FAILED


def test_a_hook_that_breaks_the_transaction_spoils_only_its_own_job(worker, monkeypatch):
    def violate_a_constraint(self, result):
        Hooked.objects.filter(id=self.id).update(attempts=99)

    monkeypatch.setattr(Hooked, "on_success", violate_a_constraint)
    queue.enqueue([Hooked(name="a")])

    worker.succeed(worker.claim_one(Hooked))

    row = Hooked.objects.get()
    assert (row.status, row.attempts, row.error_kind) == (Status.QUEUED, 1, "IntegrityError")


@pytest.mark.parametrize("hook", ["on_start", "on_success"])
def test_a_hook_that_swallows_a_database_error_is_found_out(worker, monkeypatch, hook):
    def swallow(self, *_):
        with suppress(IntegrityError):
            Hooked.objects.filter(id=self.id).update(attempts=99)

    monkeypatch.setattr(Hooked, hook, swallow)
    queue.enqueue([Hooked(name="a")])

    worker.succeed(*worker.claim(Hooked))

    row = Hooked.objects.get()
    assert (row.status, row.attempts, row.error_kind) == (Status.QUEUED, 1, "SwallowedError")


def test_a_hook_that_saves_its_job_does_not_undo_the_move(worker, monkeypatch):
    def save(self):
        self.colour = "blue"
        self.save()

    monkeypatch.setattr(Hooked, "on_cancel", save)
    monkeypatch.setattr(Hooked, "on_requeue", save)
    queue.enqueue([Hooked(name="a")])

    queue.cancel(Hooked.objects.all())
    assert Hooked.objects.get().status == Status.CANCELED
    queue.requeue(Hooked.objects.all())

    row = Hooked.objects.get()
    assert (row.status, row.epoch, row.colour) == (Status.QUEUED, 2, "blue")


def test_a_hook_that_exits_does_not_end_the_worker(worker, monkeypatch):
    monkeypatch.setattr(Hooked, "on_success", lambda self, result: sys.exit(3))
    queue.enqueue([Hooked(name="a")])

    worker.succeed(worker.claim_one(Hooked))

    assert Hooked.objects.get().error_kind == "SystemExit"


def hooks():
    return list(HookCall.objects.order_by("id").values_list("hook", flat=True))


@pytest.mark.parametrize("error", [SystemExit(3), GeneratorExit(), Unreadable(KeyboardInterrupt())])
@pytest.mark.parametrize("hook", ["on_start", "on_success"])
def test_whatever_a_hook_raises_is_an_attempt_of_its_job(worker, hook, error, monkeypatch):
    queue.enqueue([Hooked(name="a")])
    monkeypatch.setattr(Hooked, hook, Mock(side_effect=error))

    worker.succeed(*worker.claim(Hooked))

    row = Hooked.objects.get()
    assert (row.status, row.attempts) == (Status.QUEUED, 1)


def test_a_person_who_interrupts_the_program_interrupts_its_hooks(worker, monkeypatch):
    queue.enqueue([Hooked(name="a")])
    queue.cancel(Hooked.objects.all())
    monkeypatch.setattr(Hooked, "on_requeue", Mock(side_effect=KeyboardInterrupt))
    monkeypatch.setattr(signal, "getsignal", lambda number: signal.default_int_handler)

    with pytest.raises(KeyboardInterrupt):
        queue.requeue(Hooked.objects.all())

    assert Hooked.objects.get().status == Status.CANCELED
