"""Jobs that ended some days ago, with their attempts and calls."""

import gzip
import json
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

from django.core.files.storage import storages
from django.db.models import F
from django.db.models.functions import Now

from jobs import queue
from jobs.archive import archiving
from jobs.archive.ages import Ages
from jobs.models import Archive, Attempt, Call, State, Status
from tests.jobs.conftest import SimulatedWorker, make_due, new_chore
from tests.testapp.models import Chore

LONG_AGO = 40  # days; history leaves after 30


def old_chore(name="sweep", days=LONG_AGO, failures=0):
    """A chore that failed some times and then succeeded, that many days ago."""
    worker = SimulatedWorker("w")
    job = new_chore(name)
    for _ in range(failures):
        [held] = queue.claim(Chore.objects.filter(pk=job.pk).model, 1, "w", timedelta(minutes=1))
        worker.fail(held, ValueError(f"no, {name}"))
        make_due(job)
    [held] = queue.claim(Chore, 1, "w", timedelta(minutes=1))
    worker.succeed(held)
    age(job, days)
    job.refresh_from_db()
    return job


def age(job, days=LONG_AGO):
    """Let all that happened to a job have happened this many days earlier."""
    by = timedelta(days=days)
    model = type(job)
    model.objects.filter(pk=job.pk, status__in=["succeeded", "failed", "canceled"]).update(
        finished_at=F("finished_at") - by
    )
    model.objects.filter(pk=job.pk).update(created_at=F("created_at") - by)
    attempts = Attempt.objects.filter(job_id=job.pk)
    attempts.update(started_at=F("started_at") - by, ended_at=F("ended_at") - by)
    calls = Call.objects.filter(job_id=job.pk)
    calls.update(started_at=F("started_at") - by, deadline=F("deadline") - by)


def old_call(job, state=State.STORED, days=LONG_AGO, answer=b"answer", **columns):
    """A call of the job that many days ago, with its answer in the storage."""
    number = Call.objects.filter(job_id=job.pk).count() + 1
    name = f"calls/{job.pk.hex}/{number}"
    stored = {}
    if answer is not None:
        storages["answers"].put(name, answer)
        stored = {"answer_hash": "ab" * 32, "answer_size": len(answer)}
    return Call.objects.create(
        **{
            "provider": "shop:model",
            "job_id": job.pk,
            "kind": job._meta.label,
            "epoch": job.epoch,
            "worker": "w",
            "key": job.pk.hex,
            "number": number,
            "payload_hash": "cd" * 32,
            "state": state,
            "answer_name": name,
            "cost": Decimal("0.04"),
            "deadline": Now() - timedelta(days=days),
            "started_at": Now() - timedelta(days=days),
            **stored,
            **columns,
        }
    )


def gone(**columns):
    """What a call looks like after its answer has expired."""
    return {"answer": None, "answer_expired": True, **columns}


def archive():
    return dict(archiving.archive(Ages.now(), lambda: True))


def files():
    """The archive files in the storage, by name."""
    root = Path(storages["answers"].location)
    found = sorted(root.glob("archive/**/*.gz"))
    return {str(path.relative_to(root)): path.read_bytes() for path in found}


def lines(content):
    return [json.loads(line) for line in gzip.decompress(content).splitlines()]


def rows_in_files(job):
    """(record, id) of each line about a job, in the files that its row names."""
    job.refresh_from_db()
    stored = files()
    return [
        (line["record"], line["id"])
        for name in (job.log_ref or "").split()
        for line in lines(stored[name])[1:]
        if line["job_id"] == str(job.pk)
    ]


def rows_in_database(job):
    attempts = Attempt.objects.filter(job_id=job.pk).values_list("pk", flat=True)
    calls = Call.objects.filter(job_id=job.pk).values_list("pk", flat=True)
    return [("attempt", pk) for pk in attempts] + [("call", pk) for pk in calls]


def assert_once(before):
    """Each of these rows, by job, is in the database or in the files of its job: exactly once."""
    for job, rows in before.items():
        assert sorted(rows_in_database(job) + rows_in_files(job)) == sorted(rows)
    names = set(Archive.objects.values_list("name", flat=True))
    assert names <= set(files())


def is_living(job):
    return type(job).objects.filter(pk=job.pk, status=Status.QUEUED).exists()
