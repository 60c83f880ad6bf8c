"""A call with an unknown outcome: a person looks at the facts, then decides."""

import threading
from datetime import timedelta
from decimal import Decimal
from unittest.mock import Mock

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection, transaction
from django.db.models.functions import Now
from django.urls import reverse
from django.utils import timezone

from jobs import storage
from jobs.errors import StorageUnavailable
from jobs.models import Call, Provider, State, Status, Worker
from jobs.paid import ledger, limits
from jobs.storage import Folder
from tests.jobs.console.pages import in_state

pytestmark = pytest.mark.django_db(transaction=True)

NAME = "gemini:flash"
PRICE = Decimal("0.04")


@pytest.fixture
def job(pictures):
    limits.find(NAME)
    Provider.objects.update(price=PRICE, spent=PRICE, spent_on=timezone.localdate())
    [job] = in_state(Status.FAILED, "sweep")
    return job


@pytest.fixture
def call(job):
    return new_call(job)


def new_call(job, **columns):
    facts = {
        "provider": NAME,
        "job_id": job.id,
        "kind": "testapp.Chore",
        "epoch": 1,
        "worker": "atlas:1",
        "key": job.id.hex,
        "number": 1,
        "answer_name": f"calls/{job.id.hex}/1",
        "state": State.UNKNOWN,
        "error": "The connection was reset.",
        "remote_id": "req-77",
        "cost": PRICE,
        "booked_on": timezone.localdate(),
        "started_at": Now() - timedelta(seconds=19),
        "finished_at": Now(),
        "deadline": Now(),
    }
    return Call.objects.create(**{**facts, **columns})


def page_of(call):
    return reverse("admin:jobs_call_change", args=[call.pk])


def judge(client, call, verdict):
    url = reverse("admin:jobs_call_judge", args=[call.pk, verdict])
    page = client.post(url, {"seen": "1"} if call.seen else {}, follow=True).text
    call.refresh_from_db()
    return page


def spent():
    return Provider.objects.get(name=NAME).spent


def test_the_page_shows_the_job_the_facts_and_three_decisions(operator, job, call):
    page = operator.get(page_of(call)).text

    assert f'href="{reverse("admin:testapp_chore_change", args=[job.id])}"' in page
    for fact in ("The connection was reset.", "req-77", "0.04 USD", "19.0", "atlas:1", NAME):
        assert fact in page
    for verdict in ("paid", "unpaid", "again"):
        assert reverse("admin:jobs_call_judge", args=[call.pk, verdict]) in page


def test_what_was_paid_stays_booked_and_allows_no_further_call(operator, call):
    page = judge(operator, call, "paid")

    assert "Recorded: the call was paid." in page
    assert (call.state, call.seen, call.excused) == (State.UNKNOWN, True, False)
    assert (call.cost, spent()) == (PRICE, PRICE)
    assert LogEntry.objects.get().change_message == "The provider says that it was paid."
    assert "What people did" in page


def test_what_was_not_paid_is_given_back_once(operator, call):
    judge(operator, call, "unpaid")
    again = judge(operator, call, "unpaid")

    assert "Nothing was changed" in again
    assert (call.state, call.cost, call.seen, spent()) == (State.FAILED, 0, True, 0)
    assert LogEntry.objects.count() == 1


def test_asking_again_requeues_the_job(operator, job, call):
    judge(operator, call, "again")

    job.refresh_from_db()
    assert (job.status, call.excused, call.seen) == (Status.QUEUED, True, True)
    assert set(LogEntry.objects.values_list("change_message", flat=True)) == {
        "Requeued.",
        "Its job was requeued, to ask again.",
    }


@pytest.mark.parametrize("verdict", ["paid", "unpaid", "again"])
def test_an_answer_that_came_first_makes_the_decision_void(operator, job, call, verdict):
    ledger.end(call, State.STORED, answer_size=3)

    page = judge(operator, call, verdict)

    assert "Nothing was changed" in page
    assert (call.state, call.cost, spent()) == (State.STORED, PRICE, PRICE)
    assert not LogEntry.objects.exists()
    job.refresh_from_db()
    assert job.status == Status.FAILED


@pytest.mark.parametrize("cost", [None, Decimal("0.05")])
def test_an_answer_that_comes_after_the_decision_is_kept_and_booked(operator, call, cost):
    before = Call.objects.get(pk=call.pk)
    judge(operator, call, "unpaid")
    assert spent() == 0

    ledger.end(before, State.STORED, cost=cost, answer_size=3)

    call.refresh_from_db()
    assert (call.state, call.error) == (State.STORED, "")
    assert call.cost == spent() == (cost or PRICE)


@pytest.mark.postgres
def test_an_answer_that_is_being_stored_comes_first(operator, call):
    is_stored, go_on = threading.Event(), threading.Event()

    def store():
        with transaction.atomic():
            Call.objects.filter(pk=call.pk).update(state=State.STORED)
            is_stored.set()
            go_on.wait(60)
        connection.close()

    thread = threading.Thread(target=store)
    thread.start()
    is_stored.wait(60)
    threading.Timer(0.3, go_on.set).start()
    page = judge(operator, call, "unpaid")
    thread.join()

    assert "Nothing was changed" in page
    assert (call.state, call.cost, spent()) == (State.STORED, PRICE, PRICE)


def test_an_answer_that_turned_out_as_garbage_is_not_booked_again(call):
    before = Call.objects.get(pk=call.pk)
    Call.objects.update(state=State.FAILED, seen=True, error="Not a picture.")

    ledger.end(before, State.STORED, answer_size=3)

    call.refresh_from_db()
    assert (call.state, call.cost, spent()) == (State.FAILED, PRICE, PRICE)


def test_the_first_of_two_persons_decides(operator, call):
    old_page = Call.objects.get(pk=call.pk)
    judge(operator, call, "paid")

    page = judge(operator, old_page, "unpaid")

    assert "another person has looked into this call meanwhile" in page
    assert (old_page.state, spent()) == (State.UNKNOWN, PRICE)


def test_nothing_is_given_back_while_the_storage_can_not_be_asked(operator, call, monkeypatch):
    away = Mock(side_effect=StorageUnavailable(reason="The disk is gone."))
    monkeypatch.setattr(Folder, "exists", away)

    assert "The disk is gone." in operator.get(page_of(call)).text
    assert "Repair it first" in judge(operator, call, "unpaid")
    assert (call.state, spent()) == (State.UNKNOWN, PRICE)


def test_nothing_is_given_back_while_its_worker_may_still_store_the_answer(operator, job):
    call = new_call(job, state=State.INTENT, deadline=Now() - timedelta(minutes=5))
    Worker.objects.create(
        name=call.worker, slots=1, version="1", lease_expires_at=Now() + timedelta(hours=1)
    )

    assert "may still store the answer" in judge(operator, call, "unpaid")
    assert (call.state, spent()) == (State.INTENT, PRICE)


def test_a_call_that_costs_nothing_asks_for_no_decision_about_money(operator, job):
    limits.find("painter")

    page = operator.get(page_of(new_call(job, provider="painter", cost=0)))

    assert [choice.name for choice in page.context["choices"]] == ["again"]
    assert "paid for" not in page.text


def test_asking_again_excuses_a_call_that_was_not_written_off_yet(operator, job):
    call = new_call(job, state=State.INTENT, deadline=Now() - timedelta(minutes=5))

    judge(operator, call, "again")

    assert (call.excused, call.seen) == (True, True)


def test_a_stored_answer_is_proof_that_it_was_paid(operator, call):
    storage.named("answers").put(call.answer_name, b"picture")

    page = judge(operator, call, "unpaid")

    assert "Its answer is stored" in page
    assert (call.state, spent()) == (State.UNKNOWN, PRICE)


def test_a_call_under_way_is_not_judged(operator, job):
    call = new_call(job, state=State.INTENT, deadline=Now() + timedelta(minutes=1))

    assert not operator.get(page_of(call)).context["choices"]
    assert "Nothing was changed" in judge(operator, call, "unpaid")
    assert (call.state, spent()) == (State.INTENT, PRICE)


def test_a_call_whose_worker_vanished_is_judged_though_nobody_wrote_it_off(operator, job):
    call = new_call(job, state=State.INTENT, deadline=Now() - timedelta(minutes=5))

    judge(operator, call, "unpaid")

    assert (call.state, spent()) == (State.FAILED, 0)


@pytest.mark.parametrize(
    ("status", "said"),
    [(Status.SUCCEEDED, "has succeeded meanwhile"), (Status.QUEUED, "asks again by itself")],
)
def test_nothing_is_asked_again_for_a_job_that_does_not_need_it(operator, pictures, status, said):
    [job] = in_state(status, "sweep")
    call = new_call(job)

    assert said in operator.get(page_of(call)).text
    assert said in judge(operator, call, "again")
    job.refresh_from_db()
    assert job.status == status


def test_a_viewer_sees_the_facts_and_decides_nothing(viewer, call):
    assert not viewer.get(page_of(call)).context["choices"]
    url = reverse("admin:jobs_call_judge", args=[call.pk, "unpaid"])

    assert viewer.post(url).status_code == 403
    assert viewer.get(url).status_code in (403, 405)


@pytest.mark.parametrize("verdict", ["maybe", "paid%00"])
def test_an_unknown_decision_is_not_found(operator, call, verdict):
    url = reverse("admin:jobs_call_change", args=[call.pk]).replace("change", f"judge/{verdict}")

    assert operator.post(url).status_code == 404


def test_the_page_of_an_answered_call_offers_no_decision(operator, job):
    page = operator.get(page_of(new_call(job, state=State.STORED)))

    assert not page.context["choices"]
    assert "req-77" in page.text
