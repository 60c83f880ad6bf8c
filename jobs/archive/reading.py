"""The history of a job that has left the database, read from its files."""

import gzip
import json
import logging
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.core.exceptions import SuspiciousOperation, ValidationError
from django.utils.translation import gettext as _

from jobs import storage
from jobs.archive import files
from jobs.db import sessions
from jobs.errors import ProviderUnavailable
from jobs.models import Archive, Attempt, Call, Job

log = logging.getLogger(__name__)

MOST_FILES = 20  # of one job, newest first
UNREADABLE = (gzip.BadGzipFile, EOFError, zlib.error, ValueError, ValidationError, TypeError)


@dataclass
class History:
    """What the files hold about a job, newest first, and what could not be read."""

    attempts: list[Attempt] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.attempts or self.calls or self.notes)


def history(job: Job) -> History:
    """The archived history of a job, from the files that its row names."""
    names = (job.log_ref or "").split()
    return _read(job.pk, names[-MOST_FILES:][::-1], cut=len(names) > MOST_FILES)


def history_of_deleted(kind: str, id: UUID) -> History:
    """The archived history of a job whose row is gone: from all files that may hold it."""
    covering = Archive.objects.filter(kind=kind, first_id__lte=id, last_id__gte=id)
    names = list(covering.order_by("-pk").values_list("name", flat=True)[: MOST_FILES + 1])
    return _read(id, names[:MOST_FILES], cut=len(names) > MOST_FILES)


def _read(id: UUID, names: list[str], *, cut: bool) -> History:
    found = History()
    if cut:
        found.notes.append(_("Only the newest %d files are read.") % MOST_FILES)
    known = {file.name: file for file in Archive.objects.filter(name__in=names)}
    objects: dict[tuple[type, Any], Any] = {}
    sessions.give_back()  # the storage may be slow
    for name in names:
        try:
            rows = list(_rows(known.get(name), name, id))
        except ProviderUnavailable as error:  # it won't answer for the other files either
            found.notes.append(_("Older history can't be read now: %s") % error)
            break
        except FileNotFoundError:
            found.notes.append(_("Older history is gone: there is no file %s.") % name)
        except (*UNREADABLE, SuspiciousOperation) as error:
            log.error("%s can't be read", name, exc_info=error)
            found.notes.append(_("Older history is damaged: %s") % name)
        else:
            objects |= {(type(row), row.pk): row for row in rows}
    _sort(found, objects.values())
    return found


def _rows(file: Archive | None, name: str, id: UUID) -> Iterator[Any]:
    if file is None:
        raise FileNotFoundError(name)
    for first, last, offset, length in file.members:
        if UUID(first) <= id <= UUID(last):
            for row in _parsed(name, offset, length, id):
                if (found := files.as_object(row)) is not None:
                    found.is_archived = True
                    yield found


def _parsed(name: str, offset: int, length: int, id: UUID) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(_lines(name, offset, length, id))
    return rows


@lru_cache(maxsize=32)  # files never change, and a page that renews itself asks every few seconds
def _lines(name: str, offset: int, length: int, id: UUID) -> str:
    member = storage.named("answers").read_range(name, offset, length)
    if len(member) != length:
        raise EOFError(f"{len(member)} bytes of {length}")
    return json.dumps(files.rows_of(member, id))


def _sort(found: History, rows: Iterable[Any]) -> None:
    found.attempts = [row for row in rows if isinstance(row, Attempt)]
    found.calls = [row for row in rows if isinstance(row, Call)]
    found.attempts.sort(key=lambda row: row.epoch, reverse=True)
    found.calls.sort(key=lambda row: (row.started_at, row.pk), reverse=True)
