"""Workers are killed at every point of a paid call; the service's own books are then read."""

import io
import json
import sys
import threading
import time
from collections import Counter
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from django.db.models import F
from PIL import Image

from guides.models import SpotDetail, SpotImageJob
from jobs.models import Call, Provider
from jobs.paid import limits
from tests.guides.conftest import save_guide
from tests.jobs.clients import answers
from tests.jobs.clients.protocols import Service
from tests.jobs.processes import start, wait_until

__all__ = ["start"]  # a fixture
pytestmark = pytest.mark.postgres

DIE = "os.kill(os.getpid(), 9)"
PICTURES = "--jobs=guides.SpotImageJob"
NAME = "gemini:gemini-test"
KEY = "AIza-recognisable"


@pytest.fixture
def service(transactional_db, tmp_path, monkeypatch, settings):
    """Gemini's protocol on this machine; worker processes are told to use it."""
    with Service() as service:
        told = {
            "IMAGE_PROVIDER": "gemini",
            "GEMINI_API_KEY": KEY,
            "GEMINI_MODEL": "gemini-test",
            "GEMINI_BASE_URL": service.url,
            "PICTURES_FOLDER": str(tmp_path / "pictures"),
            "ANSWERS_FOLDER": str(tmp_path / "answers"),
        }
        for name, value in told.items():
            monkeypatch.setenv(name, value)
        settings.IMAGE_PROVIDER, settings.GEMINI_MODEL = "gemini", "gemini-test"
        Provider.objects.create(name=NAME, requests_per_minute=None, price="0.04")
        yield service


def dying(where, code):
    """A worker that dies in the named function, before or after its work."""
    return f"""
import django; django.setup()
import os, jobs.paid.answers, jobs.paid.ledger, jobs.queue, jobs.storage, guides.images
real = {where}
def fatal(*arguments, **options):
    {code}
{where} = fatal
"""


def started_dying(start, where, code):
    worker = start(PICTURES, slots=1, before=dying(where, code))
    assert worker.exit_code(40) == -9


def all_ready():
    return not SpotDetail.objects.exclude(image_status="succeeded").exists()


# Where the worker dies, and how many answers are on the bill in the end.
POINTS = {
    "before the call": ("jobs.paid.ledger.begin", DIE, 1),
    "when the answer is there, before the put": ("jobs.paid.answers.keep", DIE, 2),
    "put in flight": ("jobs.storage.folder.os.fsync", DIE, 2),
    "stored, but that is not yet on record": ("jobs.paid.answers._mark_stored", DIE, 1),
    "before the picture is made": ("guides.images.make_picture", DIE, 1),
    "before the finish": ("jobs.queue.settle", DIE, 1),
    "finished, but nobody heard": ("jobs.queue.settle", f"real(*arguments, **options); {DIE}", 1),
}


@pytest.mark.parametrize(("where", "code", "paid"), POINTS.values(), ids=POINTS.keys())
def test_a_killed_worker_costs_no_answer_that_was_stored(start, service, where, code, paid):
    save_guide("Kinkaku-ji")

    started_dying(start, where, code)
    start(PICTURES)
    wait_until(all_ready, within=40)

    assert len(service.paid) == paid
    assert SpotImageJob.objects.get().attempts == 0
    assert Counter(Call.objects.values_list("state", flat=True))["stored"] == 1


@pytest.mark.parametrize("half_read", [False, True], ids=["in flight", "answer half read"])
def test_a_worker_killed_while_it_waits_costs_one_answer_more(start, service, half_read):
    save_guide("Kinkaku-ji")
    service.script = [half_then_silence if half_read else paid_then_silence]
    worker = start(PICTURES)
    service.wait_for(1)
    wait_until(lambda: service.ledger[0].paid)

    worker.kill()
    start(PICTURES)
    wait_until(all_ready, within=40)

    assert len(service.paid) == 2
    assert list(Call.objects.order_by("id").values_list("state", flat=True)) == [
        "unknown",
        "stored",
    ]


def paid_then_silence(conversation):
    answers.body_with(conversation, answers.png())
    answers.hang(conversation)


def half_then_silence(conversation):
    body = answers.body_with(conversation, answers.png())
    conversation.begin(200, len(body))
    conversation.say(body[: len(body) // 2])
    answers.hang(conversation)


def test_a_paused_worker_that_comes_back_with_its_answer_does_no_harm(start, service):
    save_guide("Kinkaku-ji")
    service.delay = 1
    frozen = start(PICTURES)
    service.wait_for(1)

    frozen.pause()
    start(PICTURES)
    wait_until(all_ready, within=40)
    picture = SpotDetail.objects.get().image_url
    frozen.resume()
    wait_until(lambda: set(Call.objects.values_list("state", flat=True)) == {"stored"})

    assert len(service.paid) == 2
    assert SpotDetail.objects.get().image_url == picture


def test_retry_after_stops_the_whole_fleet_until_it_ends(start, service):
    save_guide(*[f"spot {number}" for number in range(6)])
    service.script = [answers.status(429, **{"Retry-After": "4"})]
    service.delay = 0.3

    for _ in range(3):
        start(PICTURES, slots=2)
    wait_until(all_ready, within=60)

    refused = service.ledger[0].when + 0.3
    under_way = [entry for entry in service.ledger[1:] if entry.when < refused + 0.5]
    later = [entry for entry in service.ledger[1:] if entry not in under_way]
    assert min(entry.when for entry in later) >= refused + 3.9
    assert len(service.paid) == 6
    assert not SpotImageJob.objects.filter(attempts__gt=0).exists()


def test_an_hour_of_outage_uses_no_attempt_and_all_pictures_come(start, service):
    save_guide(*[f"spot {number}" for number in range(3)])
    clock = Clock()
    service.script = lambda prompt, number: (
        answers.status(503) if clock.elapsed < timedelta(hours=1) else None
    )
    start(PICTURES)

    wait_until(lambda: clock.skip_the_pause() or all_ready(), within=60)

    assert clock.elapsed >= timedelta(hours=1)
    assert len(service.paid) == 3
    assert not SpotImageJob.objects.filter(attempts__gt=0).exists()


class Clock:
    """Time that passes only while the provider is paused, and then at once."""

    elapsed = timedelta(0)

    def skip_the_pause(self):
        provider = limits.find(NAME)
        if provider.is_paused:
            left = provider.paused_until - provider.now
            self.elapsed += left
            Provider.objects.update(paused_until=F("paused_until") - left)
            SpotImageJob.objects.update(
                run_after=F("run_after") - left, unavailable_since=F("unavailable_since") - left
            )


def test_a_wrong_key_pauses_the_provider_and_harms_no_job(start, service):
    save_guide("Kinkaku-ji")
    service.script = lambda prompt, number: answers.status(401)
    worker = start(PICTURES)

    wait_until(lambda: Provider.objects.get(name=NAME).paused)
    worker.terminate()
    worker.exit_code()

    job = SpotImageJob.objects.get()
    assert (job.status, job.attempts) == ("queued", 0)
    assert "GEMINI_API_KEY" in Provider.objects.get(name=NAME).pause_reason
    assert KEY not in Provider.objects.get(name=NAME).pause_reason + job.last_error
    assert len(service.ledger) == 1


def test_a_stopping_worker_stores_the_answer_it_waits_for(start, service):
    save_guide("Kinkaku-ji")
    service.delay = 1.5
    worker = start(PICTURES)
    service.wait_for(1)

    worker.terminate()

    assert worker.exit_code(30) == 0
    assert all_ready()
    assert len(service.paid) == 1


# Frozen between the permission to send and the request


def frozen(where, code):
    """A worker that freezes once in the named function, as SIGSTOP does to it."""
    return f"""
import django; django.setup()
import os, signal, time, jobs.paid.answers, jobs.paid.ledger, jobs.paid.clients.http
import jobs.queue, guides.images
real = {where}
times = []
def freeze():
    times.append(1)
    if len(times) > 1:
        return
    os.kill(os.getpid(), signal.SIGSTOP)
    time.sleep(0.5)
def slow(*arguments, **options):
    {code}
{where} = slow
"""


FREEZE = {
    "after the intent's commit": (
        "jobs.paid.ledger.begin",
        "begun = real(*arguments, **options); freeze(); return begun",
    ),
    "in the client": (
        "jobs.paid.clients.http.Exchange.result",
        "freeze(); return real(*arguments, **options)",
    ),
    "while it connects": (
        "jobs.paid.clients.http.Exchange.run",
        "freeze(); return real(*arguments, **options)",
    ),
}


def is_frozen(worker):
    stat = Path(f"/proc/{worker.process.pid}/stat").read_text()
    return stat.rpartition(")")[2].split()[0] == "T"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(("where", "code"), FREEZE.values(), ids=FREEZE.keys())
def test_a_worker_frozen_before_its_request_buys_nothing_when_it_comes_back(
    start, service, where, code
):
    save_guide("Kinkaku-ji")
    slow = start(PICTURES, slots=1, before=frozen(where, code))
    wait_until(lambda: is_frozen(slow), within=40)

    start(PICTURES)
    wait_until(all_ready, within=60)
    slow.resume()
    wait_until(lambda: "the claim was gone: dropped" in slow.log)

    assert len(service.paid) == len(service.ledger) == 1
    calls = Call.objects.order_by("id").values_list("state", "cost")
    assert list(calls) == [("failed", 0), ("stored", Decimal("0.04"))]


# Where the worker is frozen, and how many answers are on the bill in the end.
BEFORE = "freeze(); return real(*arguments, **options)"
AFTER = "done = real(*arguments, **options); freeze(); return done"
ANYWHERE = {
    "before the intent": ("jobs.paid.ledger.begin", BEFORE, 1),
    "with the answer in hand": ("jobs.paid.answers.keep", BEFORE, 2),
    "stored, but that is not yet on record": ("jobs.paid.answers._mark_stored", BEFORE, 1),
    "stored and on record": ("jobs.paid.answers._mark_stored", AFTER, 1),
    "with the picture made": ("guides.images.make_picture", AFTER, 1),
    "before the finish": ("jobs.queue.settle", BEFORE, 1),
}


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(("where", "code", "paid"), ANYWHERE.values(), ids=ANYWHERE.keys())
def test_a_worker_frozen_anywhere_does_no_harm_when_it_comes_back(
    start, service, where, code, paid
):
    save_guide("Kinkaku-ji")
    slow = start(PICTURES, slots=1, before=frozen(where, code))
    wait_until(lambda: is_frozen(slow), within=40)

    start(PICTURES)
    wait_until(all_ready, within=60)
    picture = SpotDetail.objects.get().image_url
    slow.resume()
    wait_until(lambda: "the claim was gone: dropped" in slow.log)

    assert len(service.paid) == paid
    assert set(Call.objects.values_list("state", flat=True)) == {"stored"}
    assert limits.find(NAME).spent_today == paid * Decimal("0.04")
    assert SpotDetail.objects.get().image_url == picture
    assert SpotImageJob.objects.get().status == "succeeded"


# Frozen while the answer arrives


def test_an_answer_that_arrives_while_the_worker_is_frozen_is_kept(start, service):
    save_guide("Kinkaku-ji")
    Provider.objects.update(timeout=3)
    rest = threading.Event()

    def slowly(conversation):
        noise = Image.effect_noise((1800, 1800), 80)
        picture = io.BytesIO()
        noise.save(picture, "PNG")
        body = json.dumps(answers.body_with(conversation, picture.getvalue())).encode()
        conversation.begin(200, len(body))
        conversation.say(body[:1000])
        rest.wait(60)
        conversation.say(body[1000:])

    service.script = [slowly]
    worker = start(PICTURES, lease=60)
    wait_until(lambda: service.ledger and service.ledger[0].sent)

    worker.pause()
    rest.set()
    time.sleep(5)  # longer than the call's timeout
    worker.resume()
    wait_until(all_ready, within=40)

    assert len(service.paid) == 1
    assert list(Call.objects.values_list("state", flat=True)) == ["stored"]


# What can't be made into a picture


def test_an_answer_that_can_not_be_encoded_is_garbage_and_bought_anew(start, service):
    save_guide("Kinkaku-ji")
    service.script = [answers.picture(answers.png(100, 17_000))]

    start(PICTURES)
    wait_until(all_ready, within=60)

    assert list(Call.objects.order_by("id").values_list("state", flat=True)) == ["failed", "stored"]
    assert len(service.paid) == 2
