"""Processes, and batches in every stage."""

from datetime import timedelta
from decimal import Decimal

from django.db.models.functions import Now

from jobs import queue
from jobs.models import Call, State, uuid7
from jobs.paid.batches.models import Batch
from jobs.queue import processes
from tests.testapp.models import Chore

GEMINI = "gemini:some-model"


def new_process(*names, label="week 12", sealed=True, then=None):
    process = processes.start(label, then=then)
    queue.enqueue([Chore(name=name, process_id=process.id) for name in names])
    if sealed:
        processes.seal(process)
    process.refresh_from_db()
    return process


def new_batch(**columns):
    batch = Batch(provider=columns.pop("provider", GEMINI), collected_at=Now())
    queue.enqueue([batch])  # collected: another one may be collecting
    Batch.objects.filter(pk=batch.pk).update(**{"collected_at": None, **columns})
    return Batch.objects.get(pk=batch.pk)


def submitted(ago=timedelta(hours=3), **columns):
    facts = {"collected_at": Now() - ago, "create_sent_at": Now() - ago, "state": "IN_PROGRESS"}
    facts |= {"submitted_at": Now() - ago, "remote_id": "batches/1", "total": 10, "done": 4}
    return new_batch(**{**facts, "run_after": Now() + timedelta(minutes=9), **columns})


def new_member(job, batch=None, state=State.INTENT, **columns):
    facts = {"provider": GEMINI, "kind": "testapp.Chore", "epoch": 1, "number": 1, "worker": "w"}
    facts |= {"key": uuid7().hex, "deadline": Now() + timedelta(days=2), "cost": Decimal("0.02")}
    return Call.objects.create(
        **facts | {"job_id": job.id, "batch_id": batch and batch.pk, "state": state} | columns
    )
