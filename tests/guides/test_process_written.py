"""Guides that Gemini writes: its own books say what was asked, the page says what is true."""

import json
import signal
import threading
from collections import Counter
from datetime import timedelta

import pytest
from django.db.models import F

from guides.models import SpotDetail
from guides.writing.keepers import KeepOutline, KeepTexts
from jobs.llm.models import LLMJob
from jobs.models import Call, Provider
from jobs.paid.batches.models import Batch
from tests.guides.writing.killing import POINTS, dying, is_done
from tests.guides.writing.writers import TEXT, outline, wish
from tests.jobs.batches import offices
from tests.jobs.batches.offices import hurry
from tests.jobs.processes import start, wait_until

__all__ = ["start"]  # a fixture
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres]
office = offices.office

KINDS = ["--jobs", "jobs.LLMJob", "jobs.Batch", "guides.KeepOutline", "guides.KeepTexts"]
NAMES = ["Castle", "Tower", "Tram", "Market", "Garden"]
# The places to die at that every provider has.
PLACES = {name: place for name, place in POINTS.items() if "scribe" not in place[0]}
HOUR = timedelta(hours=1)


def words(prompt, schema):
    """What this Gemini writes: an outline of five spots, or the text of one."""
    return json.dumps(outline(*NAMES) if "spots" in schema["properties"] else text_of(prompt))


def text_of(prompt):
    [name] = [name for name in NAMES if f'"{name}"' in prompt]
    return {"description": f"{TEXT} It is the {name}."}


@pytest.fixture
def gemini(office, monkeypatch):
    """Gemini on this machine, asked at once."""
    monkeypatch.setattr(office.vendor, "words", words)
    Provider.objects.update(strategy="sync")
    return office.vendor


def assert_asked_once(gemini):
    """By Gemini's own books: one request for the outline, one for each text."""
    assert len(gemini.bought) == 1 + len(NAMES)
    assert set(gemini.bought.values()) == {1}
    texts = SpotDetail.objects.values_list("spot_name", "description")
    assert list(texts) == [(name, f"{TEXT} It is the {name}.") for name in NAMES]


def expire(worker):
    for model in (LLMJob, KeepOutline, KeepTexts):
        worker.expire(model)


def test_a_guide_of_five_spots_takes_six_requests(start, gemini):
    wish(spots=len(NAMES))

    start(*KINDS)
    wait_until(is_done)

    assert_asked_once(gemini)
    assert len(gemini.ledger) == 1 + len(NAMES)


@pytest.mark.few(1)
@pytest.mark.parametrize(("where", "code", "_repeated"), PLACES.values(), ids=PLACES.keys())
def test_a_worker_killed_at_any_step_asks_gemini_nothing_twice(
    start, gemini, where, code, _repeated
):
    wish(spots=len(NAMES))

    worker = start(*KINDS, slots=1, before=dying(where, code))
    assert worker.exit_code() == -signal.SIGKILL
    expire(worker)
    start(*KINDS)
    wait_until(is_done)

    assert_asked_once(gemini)
    assert len(gemini.ledger) == 1 + len(NAMES)


@pytest.mark.long
def test_a_worker_killed_while_it_waits_repeats_that_request_alone(start, gemini):
    wish(spots=len(NAMES))
    gemini.hold = threading.Event()
    worker = start(*KINDS)
    gemini.wait_for(1)

    worker.kill()
    expire(worker)
    gemini.hold.set()
    start(*KINDS)
    wait_until(is_done)

    asked = Counter(entry.prompt for entry in gemini.ledger)
    assert sorted(asked.values()) == [1, 1, 1, 1, 1, 2]
    assert Call.objects.filter(state="stored").count() == 1 + len(NAMES)


# By batch


@pytest.fixture
def batches(gemini):
    """Gemini, asked in batches that end when the test says so."""
    Provider.objects.update(strategy="batch")
    gemini.finish_after = None
    return gemini


class Page:
    """The guide's page as a visitor reads it, while hours pass."""

    def __init__(self, client, gemini):
        self.client, self.gemini = client, gemini

    def read(self):
        return self.client.get("/guides/lisbon/").content.decode()

    def pass_an_hour(self):
        """Move every time that counts, and wait until Gemini was asked how far it is."""
        looks = self.gemini.asked["look"]
        wait_until(lambda: Batch.objects.filter(status="queued", polls__gt=0).exists())
        Batch.objects.living().update(
            run_after=F("run_after") - HOUR,
            created_at=F("created_at") - HOUR,
            create_sent_at=F("create_sent_at") - HOUR,
            submitted_at=F("submitted_at") - HOUR,
        )
        Call.objects.update(started_at=F("started_at") - HOUR)
        LLMJob.objects.update(created_at=F("created_at") - HOUR)
        wait_until(lambda: self.gemini.asked["look"] > looks)

    def assert_slow(self, words, delay):
        html = self.read()
        assert words in html
        assert delay in html
        assert "data-seldom" in html
        assert '<meta http-equiv="refresh" content="600">' in html
        assert html.count("tomorrow") == ("tomorrow" in delay)


@pytest.fixture
def paint(start, pictures, monkeypatch):
    """Let a worker process paint all that is asked for."""
    monkeypatch.setenv("PICTURES_FOLDER", str(pictures.location))
    monkeypatch.setenv("PAINTER_SECONDS", "0")

    def paint():
        assert start("--jobs", "guides.SpotImageJob", "--drain").exit_code() == 0

    return paint


@pytest.mark.long
def test_a_guide_written_by_batch_is_honest_for_a_day_and_longer(start, batches, client, paint):
    wish(spots=len(NAMES))
    page = Page(client, batches)
    page.assert_slow("Being written: first the outline", "arrives by tomorrow")
    start(*KINDS, "--poll=0.05")

    wait_until(lambda: len(batches.created) == 1)
    page.assert_slow("Being written: first the outline", "arrives by tomorrow")
    batches.complete_all()
    wait_until(lambda: hurry() or len(batches.created) == 2)
    for _hour in range(23):
        page.pass_an_hour()
        page.assert_slow("Being written: 0 of 5 texts", "arrives by tomorrow")
    for _hour in range(2):
        page.pass_an_hour()
    page.assert_slow("Being written: 0 of 5 texts", "it takes longer than a day this time")
    batches.complete_all()
    wait_until(lambda: hurry() or is_done())
    paint()

    assert_asked_once(batches)
    assert [len(batch.lines) for batch in batches.created] == [1, len(NAMES)]
    assert batches.paid == []  # all of it came by batch
    html = page.read()
    assert "Being written" not in html
    assert "data-seldom" not in html
    assert html.count('class="painted"') == len(NAMES)
    assert all(f"{TEXT} It is the {name}." in html for name in NAMES)
