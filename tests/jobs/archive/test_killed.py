"""Killed at any point, or with a storage that fails or lies: nothing is lost, nothing twice."""

import pytest
from django.core.files.storage import storages
from django.db import OperationalError, connection

from jobs.archive import archiving
from jobs.errors import StorageUnavailable
from jobs.models import Archive, Attempt, Call, CallTotal, State
from jobs.storage import Folder
from tests.jobs.archive.old import (
    archive,
    assert_once,
    files,
    gone,
    old_call,
    old_chore,
    rows_in_database,
)
from tests.jobs.conftest import new_chore

pytestmark = pytest.mark.django_db(transaction=True)


class Killed(BaseException):
    """The process ends here."""


@pytest.fixture
def rows():
    """Some old jobs, with all their rows."""
    jobs = [old_chore("a", failures=2), old_chore("b"), old_chore("c", days=50)]
    old_call(jobs[0], State.FAILED, **gone(days=100))
    old_call(jobs[1], State.STORED, **gone(days=100))
    return {job: rows_in_database(job) for job in jobs}


def dying(step, after):
    def die(*arguments, **options):
        if after:
            step(*arguments, **options)
        raise Killed

    return die


STEPS = ["keep", "let_go", "_unchanged", "_missing", "_record", "_delete", "_add_up", "_refer"]


@pytest.mark.few(5)
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("step", STEPS)
def test_killed_at_any_step_the_next_run_finishes(rows, monkeypatch, step, after):
    with monkeypatch.context() as patch:
        patch.setattr(archiving, step, dying(getattr(archiving, step), after))
        with pytest.raises(Killed):
            archive()
    assert_once(rows)

    archive()

    assert_once(rows)
    assert not Attempt.objects.exists()
    assert sum(sums.number for sums in CallTotal.objects.all()) == 2


@pytest.mark.parametrize("moment", ["commit", "reply"])
def test_a_commit_that_fails_or_whose_reply_is_lost_is_repeated_by_the_next_run(
    rows, monkeypatch, moment
):
    real = connection.commit

    def commit():
        if Archive.objects.exists():
            if moment == "reply":
                real()
            connection.close()
            raise OperationalError("server closed the connection unexpectedly")
        real()

    with monkeypatch.context() as patch:
        patch.setattr(connection, "commit", commit)
        with pytest.raises(OperationalError):
            archive()
    assert_once(rows)

    archive()

    assert_once(rows)
    assert not Attempt.objects.exists()
    assert sum(sums.number for sums in CallTotal.objects.all()) == 2


def test_a_second_run_finds_nothing_to_do(rows):
    archive()
    names = set(files())

    assert archive() == {}

    assert set(files()) == names
    assert_once(rows)


def test_two_runs_at_once_delete_and_add_up_once(rows, monkeypatch):
    keep = archiving.keep

    def let_another_run_go_first(file):
        keep(file)
        monkeypatch.setattr(archiving, "keep", keep)
        archive()

    monkeypatch.setattr(archiving, "keep", let_another_run_go_first)

    assert archive() == {}

    assert_once(rows)
    assert sum(sums.number for sums in CallTotal.objects.all()) == 2


def test_a_key_that_a_failover_issued_again_does_not_delete_another_attempt(monkeypatch):
    job, other = old_chore("a"), new_chore("b")
    keep = archiving.keep

    def lose_a_commit(file):
        keep(file)
        Attempt.objects.filter(job_id=job.pk).update(job_id=other.pk)

    monkeypatch.setattr(archiving, "keep", lose_a_commit)

    assert archive() == {}

    assert Attempt.objects.get().job_id == other.pk


# Storages


class Lying(Folder):
    """Says that all is well, whatever it did."""

    keeps = staticmethod(lambda content: content)

    def put(self, name, content):
        if (kept := self.keeps(content)) is not None:
            super().put(name, kept)


@pytest.mark.parametrize(
    "keeps",
    [
        lambda content: None,
        lambda content: content[: len(content) // 2],
        lambda content: b"",
        lambda content: content[:-1] + b"\xff",
    ],
    ids=["nothing", "half of it", "an empty file", "something else"],
)
def test_a_storage_that_lies_about_success_is_caught(rows, monkeypatch, keeps):
    honest = storages["answers"]
    lying = Lying(location=honest.location)
    lying.keeps = keeps
    with monkeypatch.context() as patch:
        patch.setattr("jobs.storage.named", lambda alias: lying)
        with pytest.raises(StorageUnavailable, match="Nothing was deleted from the database"):
            archive()
    assert {job: rows_in_database(job) for job in rows} == rows
    assert not Archive.objects.exists()

    archive()  # the storage is honest again, and its name is not taken by what it kept

    assert_once(rows)
    assert not Attempt.objects.exists()


def test_a_storage_that_fails_leaves_everything_as_it_is(rows, monkeypatch):
    def fail(*_):
        raise StorageUnavailable(reason="The disk is full.")

    monkeypatch.setattr(Folder, "put", fail)

    with pytest.raises(StorageUnavailable):
        archive()

    assert {job: rows_in_database(job) for job in rows} == rows
    assert Call.objects.count() == 2


def test_a_file_that_a_job_relies_on_is_not_removed_when_it_reads_back_wrong(rows, monkeypatch):
    archive()
    name = Archive.objects.order_by("pk").values_list("name", flat=True)[0]
    content = files()[name]
    file = archiving.File("testapp.Chore", archiving.date(2026, 1, 1), content, [], [])
    file.name = name
    monkeypatch.setattr(Folder, "read", lambda self, name: b"for a moment")

    with pytest.raises(StorageUnavailable):
        archiving.keep(file)

    assert files()[name] == content
