"""Statements that are compiled once: they do what the querysets do that they are made of."""

from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group
from django.db.models import F
from django.db.models.functions import Now
from django.db.models.sql.compiler import SQLCompiler, SQLUpdateCompiler

from jobs import queue
from jobs.db import compiled
from jobs.db.lookups import Blank
from jobs.models import Outcome, Status
from jobs.queue.outcomes import End
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db

LEASE = timedelta(seconds=60)


def enqueue(*names: str) -> list[Chore]:
    chores = [Chore(name=name) for name in names]
    queue.enqueue(chores)
    return chores


def work(*names: str) -> None:
    enqueue(*names)
    jobs = queue.claim(Chore, 5, "worker", LEASE)
    queue.settle([End(job, Outcome.SUCCEEDED) for job in jobs])


def test_a_worker_compiles_its_usual_statements_once(monkeypatch):
    work("first")
    made: list[str] = []

    def note(compiler):
        as_sql = compiler.as_sql

        def noted(self, *args, **kwargs):
            made.append(str(self.query.model))
            return as_sql(self, *args, **kwargs)

        monkeypatch.setattr(compiler, "as_sql", noted)

    note(SQLCompiler)
    note(SQLUpdateCompiler)
    work("second", "third")

    assert made == []
    assert Chore.objects.filter(status=Status.SUCCEEDED).count() == 3


@pytest.fixture
def taking():
    """The statement that puts the first of the chores with this priority behind the others."""
    rows = Chore.objects.filter(priority=0).order_by("name").select_for_update(skip_locked=True)
    # A condition after that of the ids, as every move has.
    first = Chore.objects.with_ids(compiled.ids_of_first(rows)).still(Status.QUEUED)
    update = compiled.update(first, priority=7, epoch=F("epoch") + 1)
    return compiled.Returning(Chore, update)


@pytest.mark.postgres
@pytest.mark.parametrize("number", [1, 2, 5])
def test_the_first_rows_are_updated_and_returned_as_they_are_now(taking, number):
    enqueue("a", "b", "c")

    taken = taking.update(number).objects

    rows = Chore.objects.filter(priority=7).order_by("name")
    assert [row.name for row in rows] == ["a", "b", "c"][:number]
    assert {job.epoch for job in taken} == {1}
    as_read = [vars(job) | {"_state": 0} for job in rows]
    assert [vars(job) | {"_state": 0} for job in sorted(taken, key=lambda job: job.name)] == as_read
    assert not taken[0]._state.adding


def test_a_statement_is_about_the_ids_of_each_time():
    a, b, c = enqueue("a", "b", "c")
    names = compiled.Select(Chore.objects.with_ids(Blank.IDS).order_by("name").values_list("name"))

    assert names.tuples([a.id, c.id]) == [("a",), ("c",)]
    assert names.tuples([b.id]) == [("b",)]
    assert names.tuples([]) == []


def test_an_update_tells_how_many_rows_it_changed():
    a, b, _ = enqueue("a", "b", "c")
    put_off = compiled.update(
        Chore.objects.with_ids(Blank.IDS), run_after=Now() + LEASE, priority=7
    )

    assert put_off.execute([a.id, b.id]) == 2
    assert list(Chore.objects.order_by("name").values_list("priority", flat=True)) == [7, 7, 0]


@pytest.mark.parametrize(
    "rows",
    [
        Chore.objects.annotate(later=F("run_after")),
        Group.objects.prefetch_related("permissions"),
        LogEntry.objects.select_related("user"),
    ],
    ids=["annotated", "prefetched", "joined"],
)
def test_rows_to_which_a_manager_adds_are_not_compiled_once(rows):
    assert not compiled.is_plain(rows)
    assert compiled.is_plain(Chore.objects.order_by("id"))
