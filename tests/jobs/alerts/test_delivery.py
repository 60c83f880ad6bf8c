"""A message arrives signed, at least once, in the right order, for as long as a day."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now

from jobs import queue
from jobs.alerts import webhook
from jobs.alerts.messages import send_test
from jobs.alerts.models import AlertMessage
from jobs.models import Alert, Status
from tests.jobs.alerts.conftest import SECRET, claim, deliver, need, pass_minutes, retry, see
from tests.jobs.alerts.receiver import status
from tests.jobs.conftest import expire_lease, make_due

pytestmark = pytest.mark.django_db(transaction=True)


def begin_and_end(kind="failed"):
    see(kind)
    pass_minutes(5)
    see()


def outcomes():
    return dict(AlertMessage.objects.values_list("event", "status"))


def test_a_beginning_and_an_end_arrive_with_all_their_facts(receiver):
    see(need("failed", "Failed chores: 2"))
    deliver()
    pass_minutes(5)
    see()
    deliver()

    begun, ended = (delivery.body for delivery in receiver.deliveries)
    message = AlertMessage.objects.get(event="begun")
    alert = Alert.objects.get()
    assert begun == {
        "id": str(message.id),
        "event": "begun",
        "kind": "failed",
        "key": "failed jobs.Worker",
        "text": "Failed chores: 2",
        "began_at": begun["began_at"],
        "ended_at": None,
        "site": "guides.example.org",
        "database": "",
        "url": "https://guides.example.org/admin/jobs/worker/",
    }
    assert ended["text"] == "Over: Failed chores: 2"
    assert ended["began_at"][:19] == f"{alert.began_at:%Y-%m-%dT%H:%M:%S}"
    assert ended["ended_at"][:19] == f"{alert.ended_at:%Y-%m-%dT%H:%M:%S}"


def test_a_message_is_signed(receiver):
    see("failed")
    deliver()

    [delivery] = receiver.deliveries
    assert delivery.is_signed_with(SECRET)
    assert not delivery.is_signed_with("another secret")
    assert delivery.headers["Idempotency-Key"] == delivery.body["id"]


def test_without_a_secret_of_its_own_a_message_is_signed_too(receiver, settings):
    settings.ALERT_WEBHOOK_SECRET = ""
    see("failed")
    deliver()

    [delivery] = receiver.deliveries
    assert delivery.is_signed_with(webhook.secret())
    settings.SECRET_KEY = "another"
    assert not delivery.is_signed_with(webhook.secret())


def test_a_refused_message_is_sent_again_without_using_an_attempt(receiver):
    receiver.script = [status(500), status(404)]
    see("failed")

    deliver()
    retry()
    message = AlertMessage.objects.get()
    assert (message.status, message.attempts) == (Status.QUEUED, 0)
    assert message.last_error == "127.0.0.1: HTTP 404"

    retry()
    assert outcomes() == {"begun": Status.SUCCEEDED}
    assert receiver.told == [("begun", "failed")] * 3


def test_a_message_whose_reply_was_lost_arrives_again_with_the_same_id(receiver):
    receiver.script = [receiver.lose_reply]
    see("failed")

    deliver()
    retry()

    first, second = receiver.deliveries
    assert first.body["id"] == second.body["id"]
    assert outcomes() == {"begun": Status.SUCCEEDED}


def test_a_message_whose_worker_was_killed_before_sending_is_sent_by_another(receiver):
    see("failed")
    [job] = claim()  # and killed

    expire_lease(job)
    queue.rescue(AlertMessage)
    make_due(job)
    deliver()

    assert receiver.told == [("begun", "failed")]


def test_it_waits_longer_each_time_and_gives_up_after_a_day(receiver):
    receiver.script = [status(503)] * 3
    see("failed")

    deliver()
    first = AlertMessage.objects.get()
    AlertMessage.objects.update(unavailable_since=Now() - timedelta(minutes=5))
    retry()
    second = AlertMessage.objects.get()
    assert first.run_after - first.updated_at < timedelta(seconds=10)
    assert second.run_after - second.updated_at > timedelta(minutes=4)

    AlertMessage.objects.update(unavailable_since=Now() - timedelta(hours=25))
    retry()
    last = AlertMessage.objects.get()
    assert (last.status, last.error_kind) == (Status.FAILED, "OutOfPatience")


def test_an_end_waits_for_its_beginning(receiver, worker):
    see("failed")
    beginning = worker.claim_one(AlertMessage)  # it is being sent
    pass_minutes(5)
    see()

    deliver()
    assert receiver.told == []

    worker.succeed(beginning)
    retry()
    assert receiver.told == [("ended", "failed")]


def test_a_beginning_that_was_not_delivered_before_the_end_is_left_out(receiver):
    receiver.script = [status(500)]
    see("failed")
    deliver()
    pass_minutes(5)
    see()
    retry()
    retry()

    assert receiver.told == [("begun", "failed"), ("ended", "failed")]
    assert outcomes() == {"begun": Status.CANCELED, "ended": Status.SUCCEEDED}


def test_after_a_long_silence_only_the_last_state_is_told(receiver):
    receiver.script = [status(500)] * 2
    begin_and_end()
    deliver()
    pass_minutes(31)
    see("failed")
    retry()
    receiver.start_anew()
    for _time in range(3):
        retry()

    assert receiver.told == [("begun", "failed")]
    assert not AlertMessage.objects.living().exists()


def test_a_message_by_a_way_that_is_no_longer_configured_is_canceled(receiver, settings):
    see("failed")
    settings.ALERT_WEBHOOK_URL = ""

    deliver()

    assert outcomes() == {"begun": Status.CANCELED}
    assert receiver.deliveries == []


def test_a_test_message_arrives_and_is_no_alert(receiver):
    send_test()
    send_test()

    for _time in range(2):
        retry()

    assert ("test", "test") in receiver.told
    assert not Alert.objects.open().exists()
    assert not AlertMessage.objects.living().exists()
