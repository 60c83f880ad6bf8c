"""What follows a process, in the console: people see that it could not, and try again."""

import pytest
from django.urls import reverse

from jobs import queue
from jobs.console import needs
from jobs.models import Process, Status
from jobs.queue import processes as moves
from tests.jobs.batching import new_process
from tests.jobs.console.pages import ask, cards_of
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db

LIST = reverse("admin:jobs_process_changelist")


@pytest.fixture
def unfollowed():
    process = new_process("a", then=Chore(name="after"))
    Process.objects.filter(pk=process.pk).update(
        follow={"model": "testapp.gone", "pk": None, "fields": {}}
    )
    queue.cancel(Chore.objects.filter(name="a"))
    process.refresh_from_db()
    assert process.follow_error
    return process


def test_what_could_not_follow_needs_a_person(operator, unfollowed):
    found = [need.kind for need in needs.needs(needs.Situation.look())]

    assert "unfollowed" in found
    assert "What should follow could not be enqueued." in cards_of(operator, unfollowed)
    assert str(unfollowed) in operator.get(f"{LIST}?state=unfollowed").text


def test_it_can_be_tried_again(operator, unfollowed):
    assert "could not be enqueued again" in ask(operator, unfollowed, "follow").text

    after = moves.as_json(Chore(name="after"))
    Process.objects.filter(pk=unfollowed.pk).update(follow=after)
    assert "What follows is enqueued." in ask(operator, unfollowed, "follow").text

    assert Chore.objects.get(name="after").status == Status.QUEUED
    assert not Process.objects.unfollowed().exists()


def test_a_person_can_let_nothing_follow(operator, unfollowed):
    ask(operator, unfollowed, "dismiss")

    assert not Process.objects.unfollowed().exists()
    assert "Let nothing follow." in cards_of(operator, unfollowed)
