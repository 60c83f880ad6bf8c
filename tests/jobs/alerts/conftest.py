import time
from datetime import timedelta

import pytest
from django.db.models import F
from django.db.models.functions import Now

from jobs import queue
from jobs.alerts import looking
from jobs.alerts.models import AlertMessage
from jobs.console.needs import Need
from jobs.models import Alert, Worker
from jobs.run import Pulse, Run
from jobs.worker import crew
from tests.jobs.alerts.receiver import Receiver
from tests.jobs.conftest import LEASE

SECRET = "a-secret-of-the-webhook"
TOKEN = "T0KEN-in-the-address"


@pytest.fixture(scope="session")
def running_receiver():
    with Receiver() as receiver:
        yield receiver


@pytest.fixture
def receiver(running_receiver, settings):
    """The configured webhook."""
    running_receiver.start_anew()
    settings.ALERT_WEBHOOK_URL = f"{running_receiver.url}/hooks/{TOKEN}?key={TOKEN}"
    settings.ALERT_WEBHOOK_SECRET = SECRET
    settings.SITE_URL = "https://guides.example.org"
    return running_receiver


@pytest.fixture
def mailed(settings, mailoutbox):
    """E-mail is configured too; what was sent."""
    settings.ALERT_EMAILS = ["ops@example.org", "boss@example.org"]
    settings.SITE_URL = "https://guides.example.org"
    return mailoutbox


def need(name, text="Something is wrong"):
    """A need of this kind, about workers."""
    return Need(name, text, Worker)


def see(*needs):
    """Look, and find exactly these needs; a text stands for a need of that kind."""
    needs = [need(each) if isinstance(each, str) else each for each in needs]
    alerts = [looking.alert_about(each) for each in needs]
    looking.compare({alert.key: alert for alert in alerts})


def pass_minutes(minutes=1):
    """Let all alerts be that much older."""
    ago = timedelta(minutes=minutes)
    moments = {name: F(name) - ago for name in ("began_at", "seen_at", "ended_at")}
    Alert.objects.update(**moments)


def messages():
    """What was enqueued, in its order."""
    rows = AlertMessage.objects.order_by("id").select_related("alert")
    return [(row.event, row.alert.kind) for row in rows]


def claim():
    return queue.claim(AlertMessage, 50, "fast", LEASE)


def deliver(model=AlertMessage):
    """Perform and settle all due jobs, as a worker does, until none is due."""
    while jobs := queue.claim(model, 50, "fast", LEASE):
        ends = [crew.perform(Run(job, Pulse(60), time.monotonic()), "fast") for job in jobs]
        assert queue.settle(ends) == []


def retry():
    """The time for the next try has come."""
    AlertMessage.objects.living().update(run_after=Now() - timedelta(seconds=1))
    deliver()
