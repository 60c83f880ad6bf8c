"""Workers are frozen during a paid call; then the service's own ledger is checked."""

import io
import json
import sys
import threading
import time
from decimal import Decimal

import pytest
from PIL import Image

from guides.models import SpotDetail, SpotImageJob
from jobs.models import Call, Provider
from jobs.paid import limits
from tests.guides.conftest import save_guide
from tests.guides.gemini import NAME, PICTURES, all_ready, service
from tests.jobs.clients import answers
from tests.jobs.processes import SHORT, start, wait_until

__all__ = ["service", "start"]  # fixtures
pytestmark = pytest.mark.postgres


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


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(("where", "code"), FREEZE.values(), ids=FREEZE.keys())
def test_a_worker_frozen_before_its_request_buys_nothing_when_it_comes_back(
    start, service, where, code
):
    save_guide("Kinkaku-ji")
    slow = start(PICTURES, slots=1, lease=SHORT, before=frozen(where, code))
    wait_until(lambda: slow.is_frozen)

    start(PICTURES)  # does the job when the lease has ended
    wait_until(all_ready)
    slow.resume()
    wait_until(lambda: "the claim was gone: dropped" in slow.log)

    assert len(service.paid) == len(service.ledger) == 1
    calls = Call.objects.order_by("id").values_list("state", "cost")
    assert list(calls) == [("failed", 0), ("stored", Decimal("0.04"))]


# Where the worker is frozen, and how many answers are billed at the end.
BEFORE = "freeze(); return real(*arguments, **options)"
AFTER = "done = real(*arguments, **options); freeze(); return done"
ANYWHERE = {
    "before the intent": ("jobs.paid.ledger.begin", BEFORE, 1),
    "with the answer in hand": ("jobs.paid.answers.keep", BEFORE, 2),
    "stored, but that is not yet on record": ("jobs.paid.answers.mark_stored", BEFORE, 1),
    "stored and on record": ("jobs.paid.answers.mark_stored", AFTER, 1),
    "with the picture made": ("guides.images.from_answer", AFTER, 1),
    "before the finish": ("jobs.queue.settle", BEFORE, 1),
}


@pytest.mark.few(1)
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(("where", "code", "paid"), ANYWHERE.values(), ids=ANYWHERE.keys())
def test_a_worker_frozen_anywhere_does_no_harm_when_it_comes_back(
    start, service, where, code, paid
):
    save_guide("Kinkaku-ji")
    slow = start(PICTURES, slots=1, before=frozen(where, code))
    wait_until(lambda: slow.is_frozen)
    slow.expire(SpotImageJob)

    start(PICTURES)
    wait_until(all_ready)
    picture = SpotDetail.objects.get().image_url
    slow.resume()
    wait_until(lambda: "the claim was gone: dropped" in slow.log)

    assert len(service.paid) == paid
    assert set(Call.objects.values_list("state", flat=True)) == {"stored"}
    assert limits.find(NAME).spent_today == paid * Decimal("0.04")
    assert SpotDetail.objects.get().image_url == picture
    assert SpotImageJob.objects.get().status == "succeeded"


# Frozen while the answer arrives

TIMEOUT = 6  # seconds for a call; the beginning of the answer comes within them


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_an_answer_that_arrives_while_the_worker_is_frozen_is_kept(start, service):
    save_guide("Kinkaku-ji")
    Provider.objects.update(timeout=TIMEOUT)
    rest = threading.Event()
    picture = io.BytesIO()
    Image.effect_noise((1800, 1800), 80).save(picture, "PNG")

    def slowly(conversation):
        body = json.dumps(answers.body_with(conversation, picture.getvalue())).encode()
        conversation.begin(200, len(body))
        conversation.say(body[:1000])
        rest.wait(60)
        conversation.say(body[1000:])

    service.script = [slowly]
    where = "jobs.paid.clients.http.Client.whole"
    worker = start(PICTURES, before=frozen(where, BEFORE))
    wait_until(lambda: worker.is_frozen)

    rest.set()
    time.sleep(TIMEOUT + 1)
    worker.resume()
    wait_until(all_ready)

    assert len(service.paid) == 1
    assert list(Call.objects.values_list("state", flat=True)) == ["stored"]
