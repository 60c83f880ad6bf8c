"""Alerts by e-mail."""

import smtplib

import pytest
from django.core.mail.backends.locmem import EmailBackend

from jobs.alerts.models import AlertMessage
from jobs.models import Status
from tests.jobs.alerts.conftest import deliver, need, pass_minutes, retry, see

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_mail_tells_the_beginning_and_another_the_end(mailed):
    see(need("failed", "Failed chores: 2"))
    deliver()
    pass_minutes(5)
    see()
    deliver()

    begun, ended = mailed
    assert begun.to == ["ops@example.org", "boss@example.org"]
    assert begun.subject == "[guides.example.org] Failed chores: 2"
    assert "https://guides.example.org/admin/jobs/worker/" in begun.body
    assert "Ended:" not in begun.body
    assert ended.subject == "[guides.example.org] Over: Failed chores: 2"
    assert "Ended:" in ended.body


def test_a_message_about_a_database_with_a_name_begins_with_it(mailed, receiver, settings):
    settings.DATABASE = "tokyo"
    see(need("failed", "Failed chores: 2"))
    deliver()
    pass_minutes(5)
    see()
    deliver()

    begun, ended = mailed
    assert begun.subject == "[guides.example.org] tokyo: Failed chores: 2"
    assert ended.subject == "[guides.example.org] tokyo: Over: Failed chores: 2"
    assert {delivery.body["database"] for delivery in receiver.deliveries} == {"tokyo"}


def test_both_ways_get_their_own_message(receiver, mailed):
    receiver.script = [receiver.lose_reply]
    see("failed")
    deliver()

    assert len(mailed) == len(receiver.deliveries) == 1
    ways = AlertMessage.objects.values_list("way", "status")
    assert dict(ways) == {"mail": Status.SUCCEEDED, "webhook": Status.QUEUED}


def test_a_text_of_somebody_else_adds_no_header(mailed):
    see(need("failed", "gone\r\nBcc: all@example.org"))
    deliver()

    assert mailed[0].subject == "[guides.example.org] gone Bcc: all@example.org"
    assert mailed[0].recipients() == ["ops@example.org", "boss@example.org"]


@pytest.mark.parametrize(
    "error",
    [
        smtplib.SMTPAuthenticationError(535, b"your password hunter2 is wrong"),
        smtplib.SMTPServerDisconnected("bye hunter2"),
        ConnectionRefusedError(111, "Connection refused"),
        TimeoutError(),
    ],
)
def test_a_mail_that_was_not_taken_is_sent_again_as_the_same_mail(mailed, monkeypatch, error):
    def refuse(self, letters):
        ids.append(letters[0].extra_headers["Message-ID"])
        raise error

    ids = []
    with monkeypatch.context() as patch:
        patch.setattr(EmailBackend, "send_messages", refuse)
        see("failed")
        deliver()

    message = AlertMessage.objects.get()
    assert (message.status, message.attempts) == (Status.QUEUED, 0)
    assert "hunter2" not in message.last_error
    retry()
    assert ids == [mailed[0].extra_headers["Message-ID"]]
