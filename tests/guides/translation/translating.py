"""A guide to translate, a writer that remembers its requests, and a worker's part for both."""

import json
import re
import time

from guides import services
from guides.models import Guide, SpotDetail
from guides.translation import asking
from guides.translation.following import TranslateGuide
from guides.translation.models import GuideTranslation, KeepTranslations
from jobs import queue
from jobs.events.models import EventJob
from jobs.llm.models import LLMJob
from jobs.paid.clients import Answer
from jobs.run import Pulse, Run
from jobs.worker import crew
from tests.jobs.conftest import LEASE

JAPANESE = {
    "Kyoto": "京都",
    "Japan": "日本",
    "Gates at dawn.": "夜明けの鳥居。",
    "Gate": "門",
    "It is red.": "それは赤いです。",
    "Pond": "池",
    "It is deep.": "それは深いです。",
}
TEXTS = len(JAPANESE)


class Translator:
    """A writer with a small dictionary. `answers` overrides it: a text, or any other data."""

    name = "translator"
    model = ""
    is_free = True

    def __init__(self):
        self.sent = []
        self.answers = {}

    def check_setup(self): ...

    def write(self, request, timeout):
        text = json.loads(re.search(r"^Text: (.*)$", request["prompt"], re.MULTILINE)[1])
        self.sent.append(text)
        said = self.answers.get(text, JAPANESE.get(text, f"「{text[:3]}」のことです"))
        if isinstance(said, Exception):
            raise said
        body = said if isinstance(said, bytes) else json.dumps({"translation": said}).encode()
        told = {"text": body.decode(), "finish": "stop", "refusal": "", "model": "t-1"}
        told |= {"input_tokens": 3, "output_tokens": 5}
        return Answer(raw=json.dumps(told).encode(), input_tokens=3, output_tokens=5)


def save_kyoto(**more):
    """An English guide with two spots: seven texts."""
    facts = {"title": "Kyoto", "destination": "Japan", "summary": "Gates at dawn.", **more}
    spots = [("Gate", "It is red."), ("Pond", "It is deep.")]
    return services.save_guide(
        Guide(plan_id="kyoto", **facts),
        [SpotDetail(spot_name=name, description=text) for name, text in spots],
    )


def work(*models):
    """Do all due jobs of these kinds, as a worker does."""
    for model in models:
        jobs = queue.claim(model, 100, "fast", LEASE)
        ends = [crew.perform(Run(job, Pulse(60), time.monotonic()), "fast") for job in jobs]
        assert queue.settle(ends) == []


def answer():
    """Let the requests be answered, and the answers be kept."""
    work(LLMJob, KeepTranslations)


def translate(by="mika"):
    """Ask for the guide in Japanese, and let everything come."""
    asked = asking.ask("kyoto", "ja", by=by)
    answer()
    return asked


def follow():
    """Let what follows a save happen, at once."""
    work(EventJob)
    TranslateGuide.objects.update(run_after="2020-01-01T00:00:00Z")
    work(TranslateGuide)


def rows():
    """The translations by the kind of their text and their spot: `Gate name`."""
    names = {str(spot.pk): spot.spot_name for spot in SpotDetail.objects.all()}
    return {name_of(row.key, names): row for row in GuideTranslation.objects.all()}


def name_of(key, names):
    _spot, _, rest = key.partition(":")
    pk, _, kind = rest.partition(":")
    return f"{names.get(pk, 'gone')} {kind}" if kind else key


def texts():
    return {name: row.text for name, row in rows().items()}
