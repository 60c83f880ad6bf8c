"""Workers are killed at every point of a paid call; then the service's own ledger is checked."""

import json
import signal
import threading
from collections import Counter
from datetime import timedelta

import pytest
from django.db.models import F, Min

from guides.models import SpotDetail, SpotImageJob
from jobs.models import Call, Provider
from jobs.paid import limits
from tests.guides.conftest import save_guide
from tests.guides.gemini import KEY, NAME, PICTURES, all_ready, service
from tests.jobs.clients import answers
from tests.jobs.processes import start, wait_until

__all__ = ["service", "start"]  # fixtures
pytestmark = pytest.mark.postgres

DIE = "os.kill(os.getpid(), 9)"


def dying(where, code):
    """A worker that dies in the named function, before or after its work."""
    return f"""
import django; django.setup()
import os, jobs.paid.answers, jobs.paid.ledger, jobs.queue, jobs.storage.folder, guides.images
real = {where}
def fatal(*arguments, **options):
    {code}
{where} = fatal
"""


def started_dying(start, where, code):
    worker = start(PICTURES, slots=1, before=dying(where, code))
    assert worker.exit_code() == -signal.SIGKILL
    worker.expire(SpotImageJob)


# Where the worker dies, and how many answers are billed at the end.
POINTS = {
    "before the call": ("jobs.paid.ledger.begin", DIE, 1),
    "when the answer is there, before the put": ("jobs.paid.answers.keep", DIE, 2),
    "put in flight": ("jobs.storage.folder.os.fsync", DIE, 2),
    "stored, but that is not yet on record": ("jobs.paid.answers.mark_stored", DIE, 1),
    "before the picture is made": ("guides.images.from_answer", DIE, 1),
    "before the finish": ("jobs.queue.settle", DIE, 1),
    "finished, but nobody heard": ("jobs.queue.settle", f"real(*arguments, **options); {DIE}", 1),
}


@pytest.mark.few(1)
@pytest.mark.parametrize(("where", "code", "paid"), POINTS.values(), ids=POINTS.keys())
def test_a_killed_worker_costs_no_answer_that_was_stored(start, service, where, code, paid):
    save_guide("Kinkaku-ji")

    started_dying(start, where, code)
    start(PICTURES)
    wait_until(all_ready)

    assert len(service.paid) == paid
    assert SpotImageJob.objects.get().attempts == 0
    assert Counter(Call.objects.values_list("state", flat=True))["stored"] == 1


@pytest.mark.few(1)
@pytest.mark.parametrize("half_read", [False, True], ids=["in flight", "answer half read"])
def test_a_worker_killed_while_it_waits_costs_one_answer_more(start, service, half_read):
    save_guide("Kinkaku-ji")
    service.script = [half_then_silence if half_read else paid_then_silence]
    worker = start(PICTURES)
    service.wait_for(1)
    wait_until(lambda: service.ledger[0].sent if half_read else service.ledger[0].paid)

    worker.kill()
    worker.expire(SpotImageJob)
    start(PICTURES)
    wait_until(all_ready)

    assert len(service.paid) == 2
    assert list(Call.objects.order_by("id").values_list("state", flat=True)) == [
        "unknown",
        "stored",
    ]


def paid_then_silence(conversation):
    answers.body_with(conversation, answers.png())
    answers.hang(conversation)


def half_then_silence(conversation):
    body = json.dumps(answers.body_with(conversation, answers.png())).encode()
    conversation.begin(200, len(body))
    conversation.say(body[: len(body) // 2])
    answers.hang(conversation)


@pytest.mark.long
def test_a_paused_worker_that_comes_back_with_its_answer_does_no_harm(start, service):
    save_guide("Kinkaku-ji")
    service.hold = threading.Event()
    frozen = start(PICTURES)
    service.wait_for(1)

    frozen.pause()
    frozen.expire(SpotImageJob)
    service.hold.set()
    start(PICTURES)
    wait_until(all_ready)
    picture = SpotDetail.objects.get().image_url
    frozen.resume()
    wait_until(lambda: "the claim was gone: dropped" in frozen.log)

    assert set(Call.objects.values_list("state", flat=True)) == {"stored"}
    assert len(service.paid) == 2
    assert SpotDetail.objects.get().image_url == picture


@pytest.mark.long
def test_retry_after_stops_the_whole_fleet_until_it_ends(start, service):
    save_guide(*[f"spot {number}" for number in range(9)])
    service.script = [answers.status(429, **{"Retry-After": "4"})]

    for _ in range(3):
        start(PICTURES, slots=2)
    wait_until(lambda: Provider.objects.filter(paused_until__isnull=False).exists())
    reopened_at = Provider.objects.get().paused_until
    wait_until(all_ready)

    # By the database's clock. Calls that began before the pause may go on.
    paused_at = reopened_at - timedelta(seconds=4)
    begun = Call.objects.values_list("started_at", flat=True)
    assert not [when for when in begun if paused_at < when < reopened_at]
    assert len(service.paid) == 9
    assert not SpotImageJob.objects.filter(attempts__gt=0).exists()


@pytest.mark.long
def test_an_hour_of_outage_uses_no_attempt_and_all_pictures_come(start, service):
    save_guide(*[f"spot {number}" for number in range(3)])
    clock = Clock()
    service.script = lambda prompt, number: (
        answers.status(503) if clock.elapsed < timedelta(hours=1) else None
    )
    start(PICTURES)

    while not all_ready():
        wait_until(lambda: clock.skip_the_wait() or all_ready())

    assert clock.elapsed >= timedelta(hours=1)
    assert len(service.paid) == 3
    assert not SpotImageJob.objects.filter(attempts__gt=0).exists()


class Clock:
    """A clock that jumps over every time in which no job can run."""

    elapsed = timedelta(0)

    def skip_the_wait(self):
        """Whether there was a wait to jump over."""
        provider = limits.find(NAME)
        living = SpotImageJob.objects.filter(status__in=["queued", "processing"])
        due_at = living.aggregate(first=Min("run_after"))["first"]
        if due_at and not living.filter(status="processing").exists():
            left = max(due_at, provider.paused_until or due_at) - provider.now
            if left > timedelta(0):
                self.skip(left)
                return True
        return False

    def skip(self, left):
        self.elapsed += left
        Provider.objects.update(paused_until=F("paused_until") - left)
        SpotImageJob.objects.update(
            run_after=F("run_after") - left, unavailable_since=F("unavailable_since") - left
        )


@pytest.mark.long
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
    service.hold = threading.Event()
    worker = start(PICTURES)
    service.wait_for(1)

    worker.terminate()
    wait_until(lambda: "Stopping" in worker.log)
    service.hold.set()

    assert worker.exit_code() == 0
    assert all_ready()
    assert len(service.paid) == 1


# What can't be made into a picture


@pytest.mark.long
def test_an_answer_that_can_not_be_encoded_is_garbage_and_bought_anew(start, service):
    save_guide("Kinkaku-ji")
    service.script = [answers.picture(answers.png(100, 17_000))]

    start(PICTURES)
    wait_until(all_ready)

    assert list(Call.objects.order_by("id").values_list("state", flat=True)) == ["failed", "stored"]
    assert len(service.paid) == 2
