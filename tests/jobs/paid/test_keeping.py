"""A worker keeps an answer in memory while it can't be stored."""

import time

import pytest
from django.db import OperationalError

from jobs import storage
from jobs.errors import AnswerLost, StorageRefused, StorageUnavailable
from jobs.models import Call
from jobs.paid import answers, breaker, calls
from jobs.run import LONGEST_WRITE
from tests.jobs.orders import Sender, buy, claimed_run, open_shop, shop, states

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("pictures")]


@pytest.fixture(autouse=True)
def opened(monkeypatch):
    open_shop()
    monkeypatch.setattr(time, "sleep", lambda seconds: None)


def break_storage(monkeypatch, *errors):
    """Let the next puts raise these errors, one each; later puts work."""
    faults = list(errors)
    put = storage.Folder.put

    def broken(self, name, content):
        if faults:
            raise faults.pop(0)
        put(self, name, content)

    monkeypatch.setattr(storage.Folder, "put", broken)


def test_storing_is_repeated_until_it_works(monkeypatch):
    break_storage(monkeypatch, *[StorageUnavailable(reason="503")] * 4)
    send = Sender()

    buy(claimed_run(), send)

    assert (send.sent, states()) == (1, ["stored"])


def test_nothing_more_is_bought_while_answers_can_not_be_stored(monkeypatch):
    monkeypatch.setattr(breaker, "SHORTEST_PAUSE", breaker.LONGEST_PAUSE)  # it outlasts the test
    break_storage(monkeypatch, StorageUnavailable(reason="503"))

    buy(claimed_run())

    assert shop().is_paused
    assert shop().pause_reason == "503"


def test_wrong_credentials_pause_until_a_person_resumes(monkeypatch):
    break_storage(monkeypatch, StorageRefused(reason="wrong secret"))

    buy(claimed_run())

    assert (shop().paused, shop().pause_reason) == (True, "wrong secret")


def test_a_storage_that_refuses_what_is_made_of_an_answer_pauses_too():
    with pytest.raises(StorageRefused), calls.using(buy(claimed_run())):
        raise StorageRefused(reason="wrong secret")

    assert shop().paused
    assert states() == ["stored"]


def test_an_answer_that_could_not_be_stored_at_all_is_unknown(monkeypatch, settings):
    settings.KEEP_ANSWER_SECONDS = 0
    break_storage(monkeypatch, StorageUnavailable(reason="503"))

    with pytest.raises(AnswerLost, match="could not be stored: 503"):
        buy(claimed_run())

    assert states() == ["unknown"]


def test_who_has_lost_the_claim_tries_once(monkeypatch):
    break_storage(monkeypatch, *[StorageUnavailable(reason="503")] * 2)
    run = claimed_run()
    run.lose("gone")
    run._stop_reason = None  # the run was told only after the call began

    with pytest.raises(AnswerLost):
        buy(run)


def test_a_worker_waits_for_the_run_until_its_answer_is_stored(monkeypatch):
    run = claimed_run()
    holding = []
    put = storage.Folder.put

    def watch(self, name, content):
        holding.append((run.is_paying, run.deadline > time.monotonic() + 60))
        put(self, name, content)

    monkeypatch.setattr(storage.Folder, "put", watch)
    buy(run)

    assert holding == [(True, True)]
    assert not run.is_paying


def test_an_answer_stored_while_the_database_is_away_is_found_later(monkeypatch, settings):
    settings.KEEP_ANSWER_SECONDS = 0
    run = claimed_run()
    with monkeypatch.context() as away:
        away.setattr(answers, "mark_stored", raise_lost)
        assert buy(run).raw == b"picture"
    assert states() == ["intent"]

    assert answers.recover(Call.objects.get().key).raw == b"picture"
    assert states() == ["stored"]


def raise_lost(*_):
    raise OperationalError("the connection is lost")


def test_each_try_to_store_has_its_time(monkeypatch):
    run = claimed_run()
    left = []
    monkeypatch.setattr(run, "allow", left.append)
    break_storage(monkeypatch, *[StorageUnavailable(reason="503")] * 3)

    buy(run)

    _for_the_call, *tries = left
    assert all(seconds >= LONGEST_WRITE for seconds in tries[:4])
