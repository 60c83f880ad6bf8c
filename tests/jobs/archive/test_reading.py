"""The archived history of a job is read as if it had never left."""

from pathlib import Path

import pytest
from django.core.files.storage import storages

from jobs import queue
from jobs.archive import files, reading
from jobs.errors import StorageUnavailable
from jobs.models import Archive, Attempt, Call, State
from jobs.storage import Folder
from tests.jobs.archive.old import age, archive, gone, old_call, old_chore
from tests.jobs.storage import servers
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db(transaction=True)
moto_server, account, s3 = servers.moto_server, servers.account, servers.s3


def fields(rows):
    return [{name: getattr(row, name) for name in files.columns_of(type(row))} for row in rows]


def history_of(job):
    job.refresh_from_db()
    return reading.history(job)


def test_attempts_and_calls_come_back_as_they_were():
    job = old_chore(failures=2)
    old_call(job, State.FAILED, error="no", **gone(days=100))
    attempts = fields(Attempt.objects.order_by("-epoch"))
    calls = fields(Call.objects.all())
    archive()

    found = history_of(job)

    assert fields(found.attempts) == attempts
    assert fields(found.calls) == calls
    assert found.notes == []


def test_a_job_without_archived_history_reads_nothing(monkeypatch):
    monkeypatch.setattr(Folder, "read_range", lambda *_: pytest.fail("it asked the storage"))

    assert not history_of(old_chore(days=1))


def test_each_job_gets_its_own_rows_from_the_members_that_hold_it(monkeypatch):
    monkeypatch.setattr(files, "MEMBER_ROWS", 2)
    jobs = [old_chore(f"chore {number}", failures=number % 3) for number in range(6)]
    archive()

    for number, job in enumerate(jobs):
        assert len(history_of(job).attempts) == number % 3 + 1
        assert {attempt.job_id for attempt in history_of(job).attempts} == {job.pk}


def test_only_a_part_of_the_file_is_read(monkeypatch):
    monkeypatch.setattr(files, "MEMBER_ROWS", 2)
    jobs = [old_chore(f"chore {number}") for number in range(6)]
    archive()
    asked = []
    read_range = Folder.read_range

    def note(self, name, offset, length):
        asked.append(length)
        return read_range(self, name, offset, length)

    monkeypatch.setattr(Folder, "read_range", note)
    history_of(jobs[3])

    assert len(asked) == 1
    assert asked[0] < Archive.objects.get().bytes / 2


def test_histories_of_several_retentions_are_one(worker):
    job = old_chore()
    archive()
    queue.requeue(Chore.objects.all())
    worker.fail(worker.claim_one(), ValueError("again"))
    queue.cancel(Chore.objects.all())
    age(job)
    archive()

    found = history_of(job)

    assert [attempt.outcome for attempt in found.attempts] == ["failed", "succeeded"]


def test_a_missing_file_gives_a_note():
    job = old_chore()
    archive()
    job.refresh_from_db()
    storages["answers"].remove(job.log_ref)

    found = history_of(job)

    assert found.attempts == []
    [note] = found.notes
    assert job.log_ref in note


@pytest.mark.parametrize("damage", [b"", b"no gzip at all", None])
def test_a_damaged_file_gives_a_note(damage):
    job = old_chore()
    archive()
    job.refresh_from_db()
    path = Path(storages["answers"].path(job.log_ref))
    content = path.read_bytes()
    path.write_bytes(content[:-20] if damage is None else damage)

    found = history_of(job)

    assert found.attempts == []
    assert len(found.notes) == 1


def test_a_storage_that_is_away_is_asked_once_and_gives_a_note(monkeypatch):
    job = old_chore()
    archive()
    Chore.objects.update(log_ref=" ".join([Chore.objects.get().log_ref] * 3))
    asked = []

    def away(*_):
        asked.append(1)
        raise StorageUnavailable(reason="Nobody answers.")

    monkeypatch.setattr(Folder, "read_range", away)

    found = history_of(job)

    assert len(asked) == 1
    assert "Nobody answers." in found.notes[0]


def test_a_reference_to_a_file_that_nothing_records_gives_a_note():
    job = old_chore()
    Chore.objects.update(log_ref="../../etc/passwd archive/x")

    assert len(history_of(job).notes) == 2


def test_the_history_of_a_deleted_job_is_found_by_its_id():
    job, other = old_chore("a", failures=1), old_chore("b")
    archive()
    Chore.objects.all().delete()

    assert len(reading.history_of_deleted("testapp.Chore", job.pk).attempts) == 2
    assert len(reading.history_of_deleted("testapp.Chore", other.pk).attempts) == 1
    assert not reading.history_of_deleted("testapp.Order", job.pk)


def test_a_page_that_renews_itself_asks_the_storage_once(monkeypatch):
    job = old_chore()
    archive()
    history_of(job)
    monkeypatch.setattr(Folder, "read_range", lambda *_: pytest.fail("it asked again"))

    assert len(history_of(job).attempts) == 1


def test_a_bucket_holds_archives_too(s3, settings):
    bucket = {"BACKEND": "jobs.storage.Bucket"}
    options = {"bucket": s3.bucket, "endpoint_url": s3.url}
    settings.STORAGES = settings.STORAGES | {"answers": {**bucket, "OPTIONS": options}}
    job = old_chore(failures=1)

    assert archive() == {"files": 1, "attempts": 2}

    assert len(history_of(job).attempts) == 2
