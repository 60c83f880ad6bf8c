"""A guide to be written, workers for its requests, and models that answer as a test says."""

import json
from datetime import timedelta

from guides.models import Guide
from guides.writing import asking
from guides.writing.asking import Wish
from guides.writing.keepers import KeepOutline, KeepTexts
from guides.writing.models import Manuscript
from jobs import queue
from jobs.errors import PermanentError
from jobs.llm import answers
from jobs.llm.models import LLMJob
from jobs.models import Outcome
from jobs.queue import outcomes
from jobs.queue.outcomes import End
from tests.guides.painting import perform

LEASE = timedelta(hours=1)
LISBON = Wish("Lisbon", "en", spots=3)
TEXT = "A calm place above the river, and a bench in its shade."


def wish(plan_id="lisbon", by="mika", **facts):
    """Ask for a guide of three spots."""
    asking.write_guide(Guide(plan_id=plan_id), LISBON._replace(**facts), by=by)
    return Guide.objects.get(pk=plan_id)


def outline(*names, **facts):
    spots = [{"name": name, "tags": ["view"], "angle": "What one sees."} for name in names]
    return {"title": "Lisbon, slowly", "summary": "Up and down the hills."} | {
        "spots": spots,
        **facts,
    }


def claim(model):
    return queue.claim(model, 100, "tester", LEASE)


def answer(*data, default=None):
    """End the open requests with these data, in their order; an exception fails its request."""
    jobs = sorted(claim(LLMJob), key=lambda job: job.position)
    said = [*data, *[default] * (len(jobs) - len(data))]
    queue.settle([ended(job, each) for job, each in zip(jobs, said, strict=True)])
    return len(jobs)


def ended(job, data):
    if data is None:
        return outcomes.from_error(job, PermanentError("the model refuses"))
    # As the queue reads an answer, but without its schema: a keeper must not rely on that.
    told = {"text": json.dumps(data), "finish": "stop", "refusal": "", "model": "test"}
    raw = json.dumps(told | {"input_tokens": 1, "output_tokens": 1}).encode()
    said = answers.checked(raw, {"schema": {}}) | {"provider": "gemini:test"}
    return End(job, Outcome.SUCCEEDED, result=said)


def keep(*models):
    """Let a worker run the keepers that are due; returns how they ended."""
    ends = []
    for model in models or (KeepOutline, KeepTexts):
        ends += [end_of(job) for job in claim(model)]
    queue.settle(ends)
    return [str(end.outcome) for end in ends]


def tell(data):
    """The outline arrives, and is kept."""
    answer(data)
    keep()


def describe(*texts, default=TEXT):
    """The texts arrive, and are kept."""
    data = [each if not isinstance(each, str) else {"description": each} for each in texts]
    answer(*data, default=default and {"description": default})
    return keep()


def written(*names, **facts):
    """A guide that was written."""
    guide = wish(spots=len(names), **facts)
    tell(outline(*names))
    describe()
    guide.refresh_from_db()
    return guide


def scribe_all():
    """Let the scribe answer, and keepers keep, until nothing is left to do."""
    while any([work(LLMJob), keep()]):
        pass


def work(model):
    ends = [end_of(job) for job in claim(model)]
    queue.settle(ends)
    return len(ends)


def end_of(job):
    """Perform it in the test's own transaction, as a worker does in none."""
    try:
        return End(job, Outcome.SUCCEEDED, result=perform(job))
    except Exception as error:
        return outcomes.from_error(job, error)


def manuscript(plan_id="lisbon"):
    return Manuscript.objects.get(pk=plan_id)


def names(plan_id="lisbon"):
    return list(Guide.objects.get(pk=plan_id).spots.values_list("spot_name", flat=True))
