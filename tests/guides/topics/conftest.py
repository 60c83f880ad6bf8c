import re

import pytest

from jobs.llm import writers
from jobs.models import Provider
from jobs.paid.clients import Answer
from tests.guides.topics.making import ENGLISH, JAPANESE, said
from tests.jobs.llm.conftest import raw


class Teller:
    """A writer that answers as told, and remembers which topics it was asked for."""

    name = "teller"
    model = ""
    is_free = True

    def __init__(self):
        self.asked = []
        self.answers = {"en": said(ENGLISH), "ja": said(JAPANESE)}
        self.meanwhile = lambda: None

    def check_setup(self): ...

    def write(self, request, timeout):
        language = re.search(r"^Language: (\w+)$", request["prompt"], re.MULTILINE)[1]
        topic = re.search(r'^Topic: "(.*)"$', request["prompt"], re.MULTILINE)[1]
        self.asked.append((topic, language))
        self.meanwhile()
        return Answer(raw=raw(self.answers[language]))


@pytest.fixture
def teller(settings, monkeypatch, pictures, transactional_db):
    monkeypatch.setattr(writers, "WRITERS", dict(writers.WRITERS))
    teller = Teller()
    writers.register("teller", teller)
    settings.LLM_PROVIDER = "teller"
    Provider.objects.create(name="teller", requests_per_minute=None)
    return teller
