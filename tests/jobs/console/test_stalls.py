"""A process that nothing moves any more needs a person, and has a way out."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from jobs import queue
from jobs.console import needs, stalls
from jobs.db import clock
from jobs.models import Process
from jobs.queue import processes as moves
from tests.jobs.batching import new_process
from tests.jobs.console.pages import ask, cards_of
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db

LIST = reverse("admin:jobs_process_changelist")


def age(process, hours=2):
    Process.objects.filter(pk=process.pk).update(created_at=clock.now() - timedelta(hours=hours))
    return process


def delete_jobs():
    """By plain SQL, past the queue."""
    Chore.objects.all()._raw_delete("default")


def kinds():
    return [need.kind for need in needs.needs(needs.Situation.look())]


@pytest.fixture
def stalled():
    process = age(new_process("a", then=Chore(name="after")))
    delete_jobs()
    return process


def test_a_process_whose_open_jobs_are_gone_needs_a_person(operator, stalled):
    assert "stalled" in kinds()
    assert str(stalled) in operator.get(f"{LIST}?state=stalled").text
    assert "It stalls" in cards_of(operator, stalled)


def test_its_jobs_are_counted_again_and_what_follows_starts(operator, stalled):
    assert "count as ended" in ask(operator, stalled, "recount", "get").text

    ask(operator, stalled, "recount")

    stalled.refresh_from_db()
    assert stalled.ended_at
    assert Chore.objects.get().name == "after"
    assert "stalled" not in kinds()
    assert "Counted its jobs again." in cards_of(operator, stalled)


def test_a_process_that_nobody_seals_needs_a_person_after_hours(operator):
    process = age(moves.start("Open end"), hours=5)
    assert "stalled" not in kinds()
    age(process, hours=7)
    assert "stalled" in kinds()

    ask(operator, process, "seal")

    process.refresh_from_db()
    assert process.sealed
    assert process.ended_at
    assert "Said that all its jobs are added." in cards_of(operator, process)


def test_a_process_with_an_open_job_of_any_kind_does_not_stall(operator):
    process = age(new_process("a"), hours=100)

    assert stalls.find(clock.now()) == []
    assert "Count its jobs again" not in cards_of(operator, process)
    assert "Nothing was changed" in ask(operator, process, "recount").text


def test_a_young_process_and_an_ended_one_do_not_stall():
    new_process("a")
    delete_jobs()
    ended = age(new_process("b"))
    queue.cancel(Chore.objects.filter(name="b"))
    delete_jobs()

    assert Process.objects.get(pk=ended.pk).ended_at
    assert "stalled" not in kinds()


def test_a_viewer_sees_it_and_may_not_act(viewer, stalled):
    assert "Count its jobs again" not in cards_of(viewer, stalled)
    assert ask(viewer, stalled, "recount").status_code == 403


def test_the_search_takes_two_queries_however_many_processes_are_open():
    for name in "abcde":
        age(new_process(name))

    with CaptureQueriesContext(connection) as asked:
        stalls.find(clock.now())

    assert len(asked) == 3  # and the clock's
