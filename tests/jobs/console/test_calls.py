"""Calls in the console: which of them a person has reviewed."""

import pytest
from django.contrib.admin.models import LogEntry
from django.db.models.functions import Now
from django.urls import reverse

from jobs.errors import OutcomeUnknown
from jobs.models import Call
from jobs.paid import ledger
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db(transaction=True)

NAME = "gemini:flash"


def new_call(**columns):
    from jobs.models import uuid7

    id = uuid7()
    return Call.objects.create(
        provider=NAME, job_id=id, epoch=1, key=id.hex, number=1, deadline=Now(), **columns
    )


def seen(client, call):
    url = reverse("admin:jobs_call_changelist")
    client.post(url, {"action": "mark_seen", "_selected_action": call.pk})
    call.refresh_from_db()
    return call.seen


def test_an_unknown_call_that_a_person_has_seen_is_no_news(operator):
    call, _ = new_call(state="unknown"), new_call(state="stored")
    url = reverse("admin:jobs_call_changelist")
    assert [row.pk for row in operator.get(url, {"seen": "no"}).context["cl"].result_list] == [
        call.pk
    ]

    assert seen(operator, call)

    assert not operator.get(url, {"seen": "no"}).context["cl"].result_list


def test_who_has_looked_into_a_call_has_not_allowed_another(operator, settings):
    settings.UNKNOWN_REPEATS = 0
    call = new_call(state="unknown")

    assert seen(operator, call)

    assert not call.excused
    with pytest.raises(OutcomeUnknown):
        ledger.refuse_after_too_many(call.key)


def test_who_requeues_the_job_has_seen_its_calls(db):
    call = new_call(state="unknown")

    ledger.excuse([Chore(id=call.job_id)])

    call.refresh_from_db()
    assert (call.excused, call.seen) == (True, True)


@pytest.mark.parametrize(("kind", "excused"), [("AnswerGone", True), ("ValueError", False)])
def test_a_stored_answer_may_be_bought_again_only_if_its_loss_was_told(db, kind, excused):
    call = new_call(state="stored")

    ledger.excuse([Chore(id=call.job_id, error_kind=kind)])

    call.refresh_from_db()
    assert call.excused is excused


@pytest.mark.parametrize(("seconds", "marked"), [(60.0, 5), (-1.0, 0)])
def test_many_calls_are_marked_in_pieces_and_counted(operator, monkeypatch, seconds, marked):
    monkeypatch.setattr("jobs.queue.CHUNK", 2)
    monkeypatch.setattr("jobs.console.actions.SECONDS", seconds)
    calls = [new_call(state="unknown") for _ in range(5)]
    url = reverse("admin:jobs_call_changelist")

    data = {"action": "mark_seen", "_selected_action": calls[0].pk, "select_across": "1"}
    page = operator.post(url, data, follow=True).text

    assert f"Calls marked as seen: {marked}." in page
    assert Call.objects.filter(seen=True).count() == LogEntry.objects.count() == marked
    assert ("not marked yet: 5." in page) == (marked == 0)


def test_a_viewer_has_not_looked_into_it(viewer):
    assert not seen(viewer, new_call(state="unknown"))
