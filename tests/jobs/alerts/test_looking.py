"""What needs a person becomes an alert once, and ends once."""

import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models.functions import Now

from jobs.alerts import looking
from jobs.alerts.models import AlertLook, AlertMessage
from jobs.console.needs import Need
from jobs.errors import PermanentError
from jobs.models import Alert, Provider, Status
from tests.jobs.alerts.conftest import deliver, messages, need, pass_minutes, see
from tests.jobs.conftest import in_another_thread
from tests.jobs.console.pages import in_state
from tests.testapp.models import Chore

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("receiver")]


def test_a_need_that_stays_is_told_once():
    for _minute in range(10):
        see("failed")
        pass_minutes()

    assert messages() == [("begun", "failed")]


def test_its_end_is_told_once_after_an_absence_of_five_minutes():
    see("failed")
    pass_minutes(4)
    see()
    assert messages() == [("begun", "failed")]

    pass_minutes(1)
    see()
    see()

    assert messages() == [("begun", "failed"), ("ended", "failed")]
    assert Alert.objects.get().ended_at


def test_a_need_that_comes_and_goes_is_told_once():
    for _time in range(20):
        see("failed")
        pass_minutes(2)
        see()
        pass_minutes(2)

    assert messages() == [("begun", "failed")]


def test_a_need_that_returns_soon_after_its_end_is_told_when_it_stays():
    see("failed")
    pass_minutes(5)
    see()
    pass_minutes(1)

    see("failed")
    assert messages() == [("begun", "failed"), ("ended", "failed")]

    pass_minutes(29)
    see("failed")
    assert messages() == [("begun", "failed"), ("ended", "failed"), ("begun", "failed")]


def test_figures_that_change_make_no_new_alert():
    see(need("failed", "Failed chores: 1"))
    see(need("failed", "Failed chores: 2"))

    assert Alert.objects.get().text == "Failed chores: 2"
    assert messages() == [("begun", "failed")]


def test_needs_about_different_things_are_different_alerts():
    see(Need("provider", "closed", Provider, {"q": "a"}), Need("provider", "closed", Provider))

    assert Alert.objects.count() == 2


def test_a_need_about_a_very_long_name_is_told_too():
    see(Need("provider", "closed", Provider, {"q": "é" * 5_000}))
    see(Need("provider", "closed", Provider, {"q": "é" * 5_000}))

    assert messages() == [("begun", "provider")]


def test_a_text_of_somebody_else_is_one_line_of_bounded_length():
    see(need("failed", "gone\r\nBcc: all@example.org\x1b[2J\u202e\x00 " + "x" * 10_000))

    text = Alert.objects.get().text
    assert text.isprintable()
    assert len(text) < 1_000


def test_two_looks_at_once_tell_once():
    gate = threading.Barrier(4)

    def look():
        gate.wait()
        see("failed", "waiting")
        connection.close()

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(messages()) == [("begun", "failed"), ("begun", "waiting")]


def test_an_alert_and_its_messages_are_made_together_or_not_at_all(monkeypatch):
    def fail(*_):
        raise RuntimeError("killed here")

    monkeypatch.setattr(looking.messages, "tell", fail)

    with pytest.raises(RuntimeError):
        see("failed")

    assert not in_another_thread(lambda: Alert.objects.exists())


def test_a_look_finds_what_the_dashboard_says(alive):
    in_state(Status.FAILED, "a", "b")

    AlertLook().save()
    deliver(AlertLook)

    alert = Alert.objects.get()
    assert (alert.kind, alert.text) == ("failed", "Failed chores: 2")
    assert alert.path == "/admin/testapp/chore/?status__exact=failed"
    assert AlertLook.objects.get().status == Status.SUCCEEDED

    Chore.objects.all().delete()
    pass_minutes(5)
    AlertLook().save()
    deliver(AlertLook)

    assert messages() == [("begun", "failed"), ("ended", "failed")]


def test_a_message_that_failed_for_good_makes_no_alert(alive, worker):
    see("waiting")
    worker.fail(worker.claim_one(AlertMessage), PermanentError("nobody is there"))

    looking.look()

    assert messages() == [("begun", "waiting")]


def test_without_a_way_to_tell_a_look_does_nothing(settings):
    settings.ALERT_WEBHOOK_URL = ""
    in_state(Status.FAILED, "a")

    AlertLook().save()
    deliver(AlertLook)

    assert AlertLook.objects.get().status == Status.CANCELED
    assert not Alert.objects.exists()


def test_looks_of_the_last_hour_are_kept(alive):
    for _minute in range(3):
        AlertLook().save()
    deliver(AlertLook)
    old = AlertLook.objects.order_by("id")[:2]
    hours_ago = Now() - timedelta(minutes=61)
    AlertLook.objects.filter(pk__in=[look.pk for look in old]).update(finished_at=hours_ago)

    AlertLook().save()
    deliver(AlertLook)

    assert AlertLook.objects.count() == 2
