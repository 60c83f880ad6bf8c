"""Moving history into files. Nothing is deleted before its file was read back and compared.

Killed between any two lines, the next run finishes: a file that nothing names is harmless, and
the rows are deleted in the transaction that names the file.
"""

import hashlib
import json
import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import Case, F, TextField, Value, When
from django.db.models.functions import Concat
from django.utils import timezone

from jobs import queue, storage
from jobs.archive import files, leaving
from jobs.archive.ages import Ages
from jobs.archive.files import File, Row
from jobs.archive.leaving import several
from jobs.db import sessions
from jobs.errors import StorageUnavailable
from jobs.models import Archive, Attempt, Call, CallTotal, model_of
from jobs.tracing import logged

log = logging.getLogger(__name__)

GoOn = Callable[[], bool]
Epochs = Mapping[UUID, int | None]  # None: the job's row is gone
AT_ONCE = 500  # primary keys in one statement


def archive(ages: Ages, go_on: GoOn) -> Counter[str]:
    """Move all history that is old enough to files, until there is none or `go_on` says no."""
    done: Counter[str] = Counter()
    for chunk in leaving.chunks(ages):
        for file in files.pack(chunk.kind, chunk.day, leaving.rows(chunk, ages)):
            if not go_on():
                return done
            keep(file)
            done += let_go(file, {row.job_id: chunk.jobs[row.job_id] for row in file.rows})
    return done


# The file


def keep(file: File) -> None:
    """Store the file, read it back, and compare: a storage may answer that all is well."""
    sessions.give_back()  # the storage may be slow
    answers = storage.named("answers")
    answers.put(file.name, file.content)
    try:
        stored = answers.read(file.name)
    except FileNotFoundError:
        stored = b""
    if (len(stored), hashlib.sha256(stored).hexdigest()) == (len(file.content), file.sha256):
        return
    if not Archive.objects.filter(name=file.name).exists():
        answers.remove(file.name)  # else this name would stay taken by the wrong content
    raise StorageUnavailable(
        reason=f"The storage took the archive {file.name}, but {len(stored)} bytes of"
        f" {len(file.content)} came back, or not the same. Nothing was deleted from the database."
        " Look whether the answers' storage is the right one."
    )


# The rows


@queue.repeated
@logged
def let_go(file: File, epochs: Epochs) -> Counter[str]:
    """Delete the rows in this file, and name it in their jobs: in one transaction.

    Only jobs that are as they were when their rows were read. A job that was requeued meanwhile,
    or is locked, keeps all its rows; nothing ever reads its copies in this file.
    """
    with sessions.short_transaction():
        unchanged = _unchanged(file.kind, epochs)
        whole = unchanged - {row.job_id for row in _missing(file.rows, unchanged)}
        rows = [row for row in file.rows if row.job_id in whole]
        if not rows:
            return Counter()
        _record(file)
        attempts = [row.pk for row in rows if row.record == "attempt"]
        calls = [row for row in rows if row.record == "call"]
        _delete(Attempt, attempts)
        _delete(Call, [row.pk for row in calls])
        _add_up(calls)
        _refer(file, whole)
    return Counter(files=1, attempts=len(attempts), calls=len(calls))


def _unchanged(kind: str, epochs: Epochs) -> set[UUID]:
    """Lock the jobs, and return those that are still ended, or still gone.

    SKIP LOCKED: a job that somebody moves right now stays as it is.
    """
    gone = {id for id, epoch in epochs.items() if epoch is None}
    model = model_of(kind)
    if model is None:
        return gone
    ended = model.objects.with_ids(epochs).ended().order_by("id")
    locked = ended.select_for_update(skip_locked=True).values_list("id", "epoch")
    same = {id for id, epoch in locked if epochs[id] == epoch}
    return same | (gone - set(model.objects.with_ids(gone).values_list("id", flat=True)))


def _missing(rows: Collection[Row], of_jobs: Collection[UUID]) -> list[Row]:
    """Lock the rows, and return those that another run has deleted, or that have changed."""
    ours = [row for row in rows if row.job_id in of_jobs]
    attempts, lines = _locked_attempts(ours), _locked_calls(ours)

    def is_there(row: Row) -> bool:
        if row.record == "attempt":
            return attempts.get(row.pk) == row.job_id
        return lines.get(row.pk) == row.line

    return [row for row in ours if not is_there(row)]


def _locked_attempts(rows: Collection[Row]) -> dict[int, UUID]:
    """Their jobs by their keys: a failover that lost commits issues primary keys again."""
    pks = [row.pk for row in rows if row.record == "attempt"]
    return {
        pk: job_id
        for some in several(pks, AT_ONCE)
        for pk, job_id in Attempt.objects.filter(pk__in=some)
        .order_by("pk")
        .select_for_update(skip_locked=True)
        .values_list("pk", "job_id")
    }


def _locked_calls(rows: Collection[Row]) -> dict[int, bytes]:
    pks = [row.pk for row in rows if row.record == "call"]
    columns = files.columns_of(Call)
    return {
        call["id"]: files.as_row("call", call).line
        for some in several(pks, AT_ONCE)
        for call in Call.objects.filter(pk__in=some)
        .order_by("pk")
        .select_for_update(skip_locked=True)
        .values(*columns)
    }


def _delete(model: type[Attempt] | type[Call], pks: Collection[int]) -> None:
    """Delete locked rows: exactly these."""
    number = sum(model.objects.filter(pk__in=some).delete()[0] for some in several(pks, AT_ONCE))
    assert number == len(pks), f"{number} rows of {len(pks)} deleted: {model._meta.label}"


def _record(file: File) -> None:
    row = Archive(
        name=file.name,
        kind=file.kind,
        day=file.day,
        first_id=file.rows[0].job_id,
        last_id=file.rows[-1].job_id,
        rows=len(file.rows),
        bytes=len(file.content),
        sha256=file.sha256,
        members=file.members,
    )
    Archive.objects.bulk_create([row], ignore_conflicts=True)  # the same bytes have the same name


def _refer(file: File, jobs: Collection[UUID]) -> None:
    """Write into the jobs which file holds their history, after those they have."""
    if model := model_of(file.kind):
        first = When(log_ref=None, then=Value(file.name, TextField()))
        also = Concat(F("log_ref"), Value(f" {file.name}", TextField()))
        model.objects.with_ids(jobs).update(
            log_ref=Case(first, default=also, output_field=TextField())
        )


# The money


def _add_up(calls: Collection[Row]) -> None:
    """Keep the sums of calls that leave: the files are never the only record of money."""
    numbers: Counter[tuple[Any, ...]] = Counter()
    costs: dict[tuple[Any, ...], Decimal] = defaultdict(Decimal)
    for call in (json.loads(row.line) for row in calls):
        key = (call["provider"], call["kind"], _day_of(call), call["state"])
        numbers[key] += 1
        costs[key] += Decimal(call["cost"])
    names = ("provider", "kind", "day", "state")
    for key in sorted(numbers):
        sums, _ = CallTotal.objects.select_for_update().get_or_create(
            **dict(zip(names, key, strict=True))
        )
        sums.number += numbers[key]
        sums.cost += costs[key]
        sums.save(update_fields=["number", "cost"])


def _day_of(call: dict[str, Any]) -> date:
    """The day on which its price was booked; like `ledger.day_of`."""
    if call["booked_on"]:
        return date.fromisoformat(call["booked_on"])
    return timezone.localdate(datetime.fromisoformat(call["started_at"]))
