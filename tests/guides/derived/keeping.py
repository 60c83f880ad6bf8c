"""Running commissions of the test's own slice in this process."""

import json
import time
from datetime import timedelta

from jobs import queue
from jobs.llm.models import LLMJob
from jobs.run import Pulse, Run
from jobs.worker import crew
from tests.testapp.keeping import KeepLines, Line, Poem

LEASE = timedelta(minutes=1)
ANSWER = json.dumps({"line": "Rain on the gate"})


def claim(model, slots=50):
    return queue.claim(model, slots, "w", LEASE)


def perform(job):
    return crew.perform(Run(job, Pulse(60), time.monotonic()), "w")


def work(model=LLMJob):
    """Perform and settle the due jobs of a model; returns what came of each."""
    ends = [perform(job) for job in claim(model)]
    assert queue.settle(ends) == []
    return [end.outcome for end in ends]


def kept():
    return list(Line.objects.order_by("position").values_list("position", "status"))


def state():
    return Poem.objects.get().state


def keeper():
    return KeepLines.objects.get()
