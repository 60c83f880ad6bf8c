import json
import time

import pytest

from jobs import queue
from jobs.llm import writers
from jobs.llm.models import LLMJob
from jobs.models import Provider
from jobs.paid.clients import Answer
from jobs.run import Pulse, Run
from jobs.worker import crew
from tests.jobs.conftest import LEASE


class Quill:
    """A writer that answers as told; without being told, it repeats the prompt."""

    name = "quill"
    model = ""
    is_free = True

    def __init__(self):
        self.sent = []
        self.reply = None

    def check_setup(self): ...

    def write(self, request, timeout):
        self.sent.append(request)
        return Answer(raw=self.reply or raw(f"You said: {request.get('prompt')}"))


def raw(text, finish="stop", **more):
    told = {"text": text, "finish": finish, "refusal": "", "model": "quill-1"}
    return json.dumps(told | {"input_tokens": 3, "output_tokens": 5} | more).encode()


@pytest.fixture
def quill(settings, monkeypatch, pictures, transactional_db):
    """The chosen writer, its provider without limits, and a folder for its answers."""
    monkeypatch.setattr(writers, "WRITERS", dict(writers.WRITERS))
    quill = Quill()
    writers.register("quill", quill)
    settings.LLM_PROVIDER = "quill"
    Provider.objects.create(name="quill", requests_per_minute=None)
    return quill


def claim(model=LLMJob, slots=50):
    return queue.claim(model, slots, "fast", LEASE)


def work(model=LLMJob):
    """Perform and settle all due jobs of a model, as a worker does; returns the ends."""
    ends = [crew.perform(Run(job, Pulse(60), time.monotonic()), "fast") for job in claim(model)]
    assert queue.settle(ends) == []
    return ends
