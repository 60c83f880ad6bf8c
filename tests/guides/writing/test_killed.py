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
from tests.guides.writing.killing import POINTS, dying, is_done
from tests.guides.writing.writers import manuscript, names, wish
from tests.jobs.processes import start, wait_until

__all__ = ["start"]  # a fixture
pytestmark = [pytest.mark.long, pytest.mark.postgres]

KINDS = ["--jobs", "jobs.LLMJob", "guides.KeepOutline", "guides.KeepTexts"]
SPOTS = 5


@pytest.fixture
def folders(monkeypatch, tmp_path):
    monkeypatch.setenv("ANSWERS_FOLDER", str(tmp_path / "answers"))
    monkeypatch.setenv("PICTURES_FOLDER", str(tmp_path / "pictures"))


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
