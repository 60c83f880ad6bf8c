"""`manage.py jobs totals`: what retention takes away still counts."""

import json

import pytest
from django.core.management import CommandError, call_command

from jobs.models import Attempt, Call, State
from tests.jobs.archive.old import archive, gone, old_call, old_chore

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def totals(capsys):
    def totals(*arguments):
        call_command("jobs", "totals", "--json", *arguments)
        return json.loads(capsys.readouterr().out)

    return totals


def test_attempts_and_money_are_the_same_before_and_after_they_leave(totals):
    job = old_chore("sweep", failures=1)
    old_call(job, State.FAILED, **gone())
    old_call(job)  # its answer is kept, so it stays
    before = totals()

    archive()

    assert (Attempt.objects.count(), Call.objects.count()) == (0, 1)
    assert totals() == before
    assert {(each["outcome"], each["number"]) for each in before["attempts"]} == {
        ("failed", 1),
        ("succeeded", 1),
    }
    assert before["calls"] == [{"provider": "shop:model", "calls": 2, "cost": "0.08000000"}]


def test_only_the_last_days_count_if_asked_for(totals):
    job = old_chore()
    old_call(job, State.FAILED, **gone())
    archive()

    recent = totals("--days=7")

    assert recent["calls"] == []
    assert [each["number"] for each in recent["attempts"]] == [1]  # it was settled today


def test_a_call_that_waits_for_a_batch_is_not_spent(totals):
    old_call(old_chore(), State.WAITING, answer=None)

    assert totals()["calls"] == []


def test_nonsense_is_refused():
    with pytest.raises(CommandError, match="--days 0: from 1 to 36500"):
        call_command("jobs", "totals", "--days=0")
