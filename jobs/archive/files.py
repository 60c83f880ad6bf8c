"""The format of archive files: gzipped JSON Lines, which `zcat` and `jq` read without us.

A file is many gzip members, so that a few kilobytes of it can be read alone. The first member is
one line that explains the file. Each other line is one row, sorted by job.
"""

import gzip
import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from django.db import models

from jobs import __version__
from jobs.models import Attempt, Call

FORMAT = 1
RECORDS: dict[str, type[Attempt] | type[Call]] = {"attempt": Attempt, "call": Call}
LEVEL = 6  # 9 needs twice the time for a twentieth less
MEMBER_ROWS = 1_000
FILE_ROWS = 5_000  # as many as one short transaction deletes
FILE_BYTES = 16 * 1024 * 1024  # of its text; what a file needs of memory

Member = tuple[str, str, int, int]  # first job, last job, offset, length


class Row(NamedTuple):
    """A row as its line in a file."""

    record: str
    job_id: UUID
    pk: int
    line: bytes


@dataclass
class File:
    """A file with everything that is recorded about it."""

    kind: str
    day: date
    content: bytes
    members: list[Member]
    rows: list[Row]
    sha256: str = field(init=False)
    name: str = field(init=False)

    def __post_init__(self) -> None:
        self.sha256 = hashlib.sha256(self.content).hexdigest()
        # A kind is `app.Model`; one that is not must not become a path.
        kind = re.sub(r"^\.|[^\w.-]", "_", self.kind, flags=re.ASCII)
        self.name = f"archive/{kind}/{self.day.isoformat()}/{self.sha256}.jsonl.gz"


# Writing


def as_row(record: str, columns: dict[str, Any]) -> Row:
    """A row of the database as a line: all columns, by the names that the models give them."""
    text = json.dumps(
        {"record": record, **{name: _plain(value) for name, value in columns.items()}},
        ensure_ascii=False,
        allow_nan=False,
    )
    line = text.encode(errors="backslashreplace") + b"\n"
    return Row(record, columns["job_id"], columns["id"], line)


def pack(kind: str, day: date, rows: Iterable[Row]) -> Iterator[File]:
    """Files with these rows, which are sorted by job. The same rows give the same bytes."""
    held: list[Row] = []
    size = 0
    for row in rows:
        held.append(row)
        size += len(row.line)
        if len(held) == FILE_ROWS or size >= FILE_BYTES:
            yield _file(kind, day, held)
            held, size = [], 0
    if held:
        yield _file(kind, day, held)


def _file(kind: str, day: date, rows: list[Row]) -> File:
    content = bytearray(_member(_explanation(kind, day)))
    members: list[Member] = []
    for start in range(0, len(rows), MEMBER_ROWS):
        some = rows[start : start + MEMBER_ROWS]
        packed = _member(b"".join(row.line for row in some))
        members.append((some[0].job_id.hex, some[-1].job_id.hex, len(content), len(packed)))
        content += packed
    return File(kind, day, bytes(content), members, rows)


def _member(text: bytes) -> bytes:
    return gzip.compress(text, LEVEL, mtime=0)


def _explanation(kind: str, day: date) -> bytes:
    told = {
        "record": "explanation",
        "format": FORMAT,
        "about": "History of ended jobs that has left the database. Each further line is one row:"
        " an attempt is one run of a job, a call is one request to a paid service.",
        "kind": kind,
        "day": day.isoformat(),
        "tables": {record: model._meta.db_table for record, model in RECORDS.items()},
        "columns": {record: columns_of(model) for record, model in RECORDS.items()},
        "values": "times are ISO 8601 with their zone, costs are text, absent values are null",
        "order": "by job_id; a job's attempts by epoch, then its calls",
        "written_by": f"tabie {__version__}",
        "read_it": "zcat FILE | jq 'select(.job_id == \"ID\")'",
    }
    return json.dumps(told, ensure_ascii=False).encode() + b"\n"


def columns_of(model: type[models.Model]) -> list[str]:
    return [field.attname for field in model._meta.concrete_fields]


def _plain(value: Any) -> Any:
    match value:
        case datetime() | date():
            return value.isoformat()
        case UUID() | Decimal():
            return str(value)
        case float() if not math.isfinite(value):
            return str(value)  # JSON has no NaN
        case dict():
            return {str(name): _plain(each) for name, each in value.items()}
        case list():
            return [_plain(each) for each in value]
    return value


# Reading


def rows_of(member: bytes, job_id: UUID) -> list[dict[str, Any]]:
    """The lines about one job, from one member or from several."""
    mark = str(job_id).encode()
    lines = gzip.decompress(member).splitlines()
    found = [json.loads(line) for line in lines if mark in line]
    return [row for row in found if row.get("job_id") == str(job_id)]


def as_object(row: dict[str, Any]) -> Attempt | Call | None:
    """The row as an object of its model; columns that the model does not have are left out."""
    model = RECORDS.get(str(row.get("record")))
    if model is None:
        return None
    fields = {field.attname: field for field in model._meta.concrete_fields}
    known = {name: fields[name].to_python(value) for name, value in row.items() if name in fields}
    return model(**known)
