"""The exchange with the receiver ends in time, follows nothing, and quotes no secret."""

import logging

import pytest
from django.utils import timezone

from jobs.alerts import ways, webhook
from jobs.alerts.models import AlertMessage
from jobs.alerts.wording import Message
from jobs.models import Attempt
from tests.jobs.alerts.conftest import SECRET, TOKEN, deliver, retry, see
from tests.jobs.alerts.receiver import Receiver, status

MESSAGE = Message(
    *("id-1", "begun", "failed", "failed testapp.Chore", "Failed chores: 1"),
    began_at=timezone.now(),
    ended_at=None,
    site="guides.example.org",
    database="",
    url="",
    sent_at=timezone.now(),
)


def fault():
    with pytest.raises(ways.NotDelivered) as raised:
        webhook.send(MESSAGE)
    return str(raised.value)


def test_any_success_is_a_success(receiver):
    receiver.script = [status(200), status(201), status(204), status(299)]
    for _time in range(4):
        webhook.send(MESSAGE)

    assert len(receiver.deliveries) == 4


@pytest.mark.parametrize("code", [300, 304, 400, 401, 404, 410, 429, 500, 503])
def test_anything_else_is_not(receiver, code):
    receiver.script = [status(code)]

    assert fault() == f"127.0.0.1: HTTP {code}"


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(receiver, code):
    receiver.script = [status(code, Location=f"{receiver.url}/elsewhere")]

    assert fault() == f"127.0.0.1: HTTP {code}"
    assert len(receiver.deliveries) == 1


@pytest.mark.parametrize("behaviour", [Receiver.hang, Receiver.drip])
def test_a_reply_that_does_not_come_is_given_up(receiver, behaviour, monkeypatch):
    monkeypatch.setattr(webhook, "DEADLINE", 0.3)
    receiver.script = [behaviour]

    assert fault() == "127.0.0.1: no reply within 0.3 s"


def test_a_reply_without_end_is_not_read(receiver):
    receiver.script = [Receiver.pour]

    webhook.send(MESSAGE)


@pytest.mark.parametrize("behaviour", [Receiver.lose_reply, Receiver.babble])
def test_a_broken_reply_is_not_delivered(receiver, behaviour):
    receiver.script = [behaviour]

    assert fault().startswith("127.0.0.1: ")


def test_a_receiver_that_is_away_is_named_by_its_host_alone(settings):
    settings.ALERT_WEBHOOK_URL = f"http://127.0.0.1:1/{TOKEN}"

    assert fault() == "127.0.0.1: ConnectionRefusedError: Connection refused"


def test_a_receiver_that_speaks_no_https_gets_nothing(receiver, settings):
    settings.ALERT_WEBHOOK_URL = receiver.url.replace("http:", "https:")

    assert fault().startswith("127.0.0.1: SSL")
    assert receiver.deliveries == []


@pytest.mark.django_db(transaction=True)
def test_no_text_holds_the_token_or_the_secret(receiver, settings, caplog):
    caplog.set_level(logging.DEBUG)
    leaks = f"{settings.ALERT_WEBHOOK_URL} {SECRET}"
    receiver.script = [
        *(Receiver.babble, Receiver.lose_reply, status(500)),
        status(302, Location=leaks),
        status(400, **{"X-Why": leaks}),
    ]
    see("failed")
    deliver()
    for _time in range(4):
        retry()
    settings.ALERT_WEBHOOK_URL = f"https://127.0.0.1:1/{TOKEN}"
    retry()

    assert Attempt.objects.count() == 6
    rows = [*AlertMessage.objects.values(), *Attempt.objects.values()]
    told = f"{rows} {caplog.text}"
    assert TOKEN not in told
    assert SECRET not in told
