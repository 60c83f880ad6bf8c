"""The format of the files: the same rows give the same bytes, and anybody can read them."""

import gzip
import json
import math
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from uuid import UUID

import pytest

from jobs.archive import files
from jobs.models import Attempt, Call
from jobs.storage.names import checked

DAY = date(2026, 1, 2)
NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
JOB = UUID(int=7)


def attempt(pk=1, job_id=JOB, **columns):
    named = {"kind": "a.B", "epoch": pk, "worker": "w", "outcome": "failed", "error": None}
    times = {"started_at": NOON, "ended_at": NOON + timedelta(seconds=1)}
    all_of_them = {"id": pk, "job_id": job_id, **named, **times, "traceback": None, "steps": None}
    return files.as_row("attempt", {**all_of_them, **columns})


def pack(*rows):
    [file] = files.pack("a.B", DAY, rows)
    return file


def read(file):
    return [json.loads(line) for line in gzip.decompress(file.content).splitlines()]


def test_the_same_rows_give_the_same_bytes_and_the_same_name():
    assert pack(attempt(1), attempt(2)).content == pack(attempt(1), attempt(2)).content
    assert pack(attempt(1)).name != pack(attempt(2)).name


def test_the_name_tells_kind_day_and_content():
    file = pack(attempt())

    assert file.name == f"archive/a.B/2026-01-02/{file.sha256}.jsonl.gz"
    assert checked(file.name)


@pytest.mark.parametrize("kind", ["../../etc", ".hidden", "a b/c", "日本.語", "a\x00b"])
def test_no_kind_can_lead_out_of_the_archive(kind):
    [file] = files.pack(kind, DAY, [attempt()])

    assert checked(file.name).startswith("archive/")
    assert file.name.count("/") == 3


def test_the_first_line_explains_the_file():
    explanation, _ = read(pack(attempt()))

    assert explanation["record"] == "explanation"
    assert explanation["format"] == 1
    assert (explanation["kind"], explanation["day"]) == ("a.B", "2026-01-02")
    assert explanation["columns"]["attempt"] == files.columns_of(Attempt)
    assert explanation["columns"]["call"] == files.columns_of(Call)
    assert "zcat" in explanation["read_it"]


def test_what_json_can_not_hold_is_written_as_text():
    tokyo = datetime(2026, 1, 2, 21, tzinfo=timezone(timedelta(hours=9)))
    steps = {"draw": math.nan, "send": [math.inf, 1.5, Decimal("0.1")]}

    _, row = read(pack(attempt(started_at=tokyo, error="旅絵 \udc80", steps=steps)))

    assert row["started_at"] == "2026-01-02T21:00:00+09:00"
    assert row["steps"] == {"draw": "nan", "send": ["inf", 1.5, "0.1"]}
    assert row["error"] == "旅絵 \udc80"
    assert row["job_id"] == str(JOB)


def test_each_member_can_be_read_alone(monkeypatch):
    monkeypatch.setattr(files, "MEMBER_ROWS", 2)
    jobs = [UUID(int=number) for number in range(5)]

    file = pack(*(attempt(1, job) for job in jobs))

    assert [(UUID(first), UUID(last)) for first, last, *_ in file.members] == [
        (jobs[0], jobs[1]),
        (jobs[2], jobs[3]),
        (jobs[4], jobs[4]),
    ]
    _, _, offset, length = file.members[1]
    member = file.content[offset : offset + length]
    assert [row["job_id"] for row in files.rows_of(member, jobs[3])] == [str(jobs[3])]
    assert files.rows_of(member, jobs[0]) == []


def test_a_file_ends_after_so_many_rows_or_bytes(monkeypatch):
    rows = [attempt(number) for number in range(10)]
    monkeypatch.setattr(files, "FILE_ROWS", 4)
    assert [len(file.rows) for file in files.pack("a.B", DAY, rows)] == [4, 4, 2]

    monkeypatch.setattr(files, "FILE_BYTES", len(rows[0].line) + 1)
    assert [len(file.rows) for file in files.pack("a.B", DAY, rows)] == [2, 2, 2, 2, 2]


def test_rows_are_taken_as_they_come_and_not_all_at_once(monkeypatch):
    monkeypatch.setattr(files, "FILE_ROWS", 3)
    taken = []

    def rows():
        for number in range(9):
            taken.append(number)
            yield attempt(number)

    next(files.pack("a.B", DAY, rows()))

    assert taken == [0, 1, 2]


def test_a_row_comes_back_as_it_was():
    row = attempt(steps={"draw": 12}, error="no")

    found = files.as_object(json.loads(row.line))

    assert isinstance(found, Attempt)
    assert (found.job_id, found.started_at, found.steps, found.error) == (
        JOB,
        NOON,
        {"draw": 12},
        "no",
    )


def test_columns_and_records_of_another_version_do_no_harm():
    row = json.loads(attempt().line)

    assert files.as_object({**row, "mood": "fine"}).job_id == JOB
    assert files.as_object({**row, "record": "note"}) is None


def test_a_text_that_names_another_job_is_not_taken_for_its_row():
    other = UUID(int=8)
    file = pack(attempt(1, JOB, error=f"see {other}"))

    assert files.rows_of(file.content, other) == []


def test_zcat_and_any_json_reader_understand_it(tmp_path):
    path = tmp_path / "file.jsonl.gz"
    path.write_bytes(pack(*(attempt(number) for number in range(3_000))).content)
    script = (
        "import json, sys; print(sum(json.loads(line).get('id') == 2999 for line in sys.stdin))"
    )

    zcat = subprocess.Popen(["zcat", path], stdout=subprocess.PIPE)
    told = subprocess.check_output([sys.executable, "-c", script], stdin=zcat.stdout, text=True)
    zcat.stdout.close()

    assert zcat.wait() == 0
    assert told == "1\n"
