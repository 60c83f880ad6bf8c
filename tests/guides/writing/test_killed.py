"""Workers are killed at each step of the writing: nothing is asked twice, no spot is lost."""

import signal
from collections import Counter

import pytest
from django.db import transaction

from guides.derived.models import Commission, Version
from guides.models import SpotImageJob
from guides.writing.keepers import KeepOutline, KeepTexts
from jobs.llm.models import LLMJob
from jobs.models import Call
from tests.guides.writing.writers import manuscript, names, wish
from tests.jobs.processes import start, wait_until

__all__ = ["start"]  # a fixture
pytestmark = [pytest.mark.long, pytest.mark.postgres]

KINDS = ["--jobs", "jobs.LLMJob", "guides.KeepOutline", "guides.KeepTexts"]
SPOTS = 5
DIE = "os.kill(os.getpid(), 9)"
FIRST = f"real(*arguments, **options); {DIE}"


def settling(kind, first):
    """Die when a job of this kind is about to be settled, or just was."""
    is_it = f"any(type(end.job).__name__ == '{kind}' for end in arguments[0])"
    if first:
        return f"done = real(*arguments, **options); {DIE} if {is_it} else None; return done"
    return f"{DIE} if {is_it} else None; return real(*arguments, **options)"


# Where the worker dies, and how many calls are made in all: 1 for the outline, 1 per spot.
POINTS = {
    "before the outline is asked for": ("jobs.paid.ledger.begin", DIE, 0),
    "while the outline is asked for": ("guides.scribe.Scribe.write", DIE, 1),
    "the outline is here, not settled": ("jobs.queue.settle", settling("LLMJob", False), 0),
    "the outline is settled": ("jobs.queue.settle", settling("LLMJob", True), 0),
    "while the outline is kept": ("guides.writing.keepers.plan_spots", FIRST, 0),
    "the outline is kept, not committed": ("guides.writing.keepers.ask_texts", FIRST, 0),
    "between consume and settle": ("guides.writing.keepers.KeepOutline.perform", FIRST, 0),
    "the keeper is settled": ("jobs.queue.settle", settling("KeepOutline", True), 0),
    "while the texts are kept": ("guides.writing.saving.save_spots", FIRST, 0),
    "the texts are kept, not settled": ("guides.writing.keepers.KeepTexts.perform", FIRST, 0),
    "the texts are settled": ("jobs.queue.settle", settling("KeepTexts", True), 0),
}


def dying(where, code):
    return f"""
import django; django.setup()
import os, jobs.paid.ledger, jobs.queue, guides.scribe, guides.writing.keepers
import guides.writing.saving
real = {where}
def fatal(*arguments, **options):
    {code}
{where} = fatal
"""


@pytest.fixture
def folders(monkeypatch, tmp_path):
    monkeypatch.setenv("ANSWERS_FOLDER", str(tmp_path / "answers"))
    monkeypatch.setenv("PICTURES_FOLDER", str(tmp_path / "pictures"))


def is_done():
    return manuscript().state == "done"


def assert_written_once(repeated=0):
    """Each answer was bought once, each text kept once, and each spot asked for its picture."""
    found = names()
    assert len(found) == len(set(found)) == SPOTS
    states = Counter(Call.objects.values_list("state", flat=True))
    assert states == {"stored": 1 + SPOTS} | ({"unknown": repeated} if repeated else {})
    assert sorted(Commission.objects.values_list("requests", flat=True)) == [1, SPOTS]
    assert Version.objects.count() == 1 + SPOTS
    assert SpotImageJob.objects.count() == SPOTS
    assert not LLMJob.objects.exists()
    assert not manuscript().planned.exclude(state="written").exists()


@pytest.mark.parametrize(("where", "code", "repeated"), POINTS.values(), ids=POINTS.keys())
def test_a_killed_worker_asks_nothing_twice(start, folders, where, code, repeated):
    with transaction.atomic():
        wish(spots=SPOTS)

    worker = start(*KINDS, slots=1, before=dying(where, code))
    assert worker.exit_code() == -signal.SIGKILL
    for model in (LLMJob, KeepOutline, KeepTexts):
        worker.expire(model)
    start(*KINDS)
    wait_until(is_done)
    wait_until(lambda: not LLMJob.objects.exists())

    assert_written_once(repeated)


def test_a_worker_killed_during_the_bulk_loses_no_text(start, folders, monkeypatch):
    monkeypatch.setenv("SCRIBE_SECONDS", "0.4")
    wish(spots=SPOTS)
    worker = start(*KINDS, slots=2)
    texts = Call.objects.filter(state="stored")
    wait_until(lambda: texts.count() >= 3)

    worker.kill()
    in_flight = Call.objects.filter(state="intent").count()
    for model in (LLMJob, KeepOutline, KeepTexts):
        worker.expire(model)
    start(*KINDS)
    wait_until(is_done)

    assert_written_once(in_flight)
