"""Workers are killed in the middle; another one takes over, and nothing is asked twice."""

import json
from pathlib import Path

import pytest

from guides.translation import asking
from guides.translation.models import GuideTranslation, KeepTranslations
from jobs.llm.models import LLMJob
from jobs.models import Call, Provider
from tests.guides.translation.translating import TEXTS, rows, save_kyoto
from tests.jobs.processes import start, wait_until

__all__ = ["start"]  # a fixture
pytestmark = [pytest.mark.long, pytest.mark.postgres]

JOBS = ["--jobs", "jobs.LLMJob", "guides.KeepTranslations"]
# Dies by SIGKILL at the given call of a function, before or after it.
DIE = """
import django; django.setup()
import os, signal, guides.scribe, guides.translation.models, jobs.paid.answers, jobs.llm.consumption
real, calls = {where}, []
def deadly(*arguments, **options):
    calls.append(1)
    if len(calls) == {at} and {before}:
        os.kill(os.getpid(), signal.SIGKILL)
    done = real(*arguments, **options)
    if len(calls) == {at}:
        os.kill(os.getpid(), signal.SIGKILL)
    return done
{where} = deadly
"""
# The scribe counts what it is asked, in a file that outlives its worker.
COUNT = """
import guides.scribe
write = guides.scribe.Scribe.write
def counted(self, request, timeout):
    answer = write(self, request, timeout)
    with open({file!r}, "a") as file:
        file.write(__import__("json").dumps(request["prompt"]) + "\\n")
    return answer
guides.scribe.Scribe.write = counted
"""
KEEP = "guides.translation.models.KeepTranslations"
STEPS = {
    "before the third answer is on record": ("jobs.paid.answers.mark_stored", 3, True),
    "after the third answer is on record": ("jobs.paid.answers.mark_stored", 3, False),
    "before the answers are kept": (f"{KEEP}.keep", 1, True),
    "with half of the answers kept": (f"{KEEP}.keep_one", 4, False),
    "after they are kept, before the commit": (f"{KEEP}.keep", 1, False),
}


def everything_is_kept():
    return (
        GuideTranslation.objects.exclude(text="").count() == TEXTS
        and not LLMJob.objects.exists()
        and not KeepTranslations.objects.living().exists()
    )


@pytest.mark.parametrize(("where", "at", "before"), STEPS.values(), ids=STEPS.keys())
def test_a_killed_worker_costs_no_request(start, tmp_path, monkeypatch, where, at, before):
    monkeypatch.setenv("ANSWERS_FOLDER", str(tmp_path / "answers"))
    asked = tmp_path / "asked"
    asked.touch()
    Provider.objects.create(name="scribe", requests_per_minute=None)
    save_kyoto()
    asking.ask("kyoto", "ja", by="mika")
    count = COUNT.format(file=str(asked))

    first = start(*JOBS, slots=1, before=DIE.format(where=where, at=at, before=before) + count)
    wait_until(lambda: first.has_ended)
    for model in (LLMJob, KeepTranslations):
        first.expire(model)
    start(*JOBS, before=count)
    wait_until(everything_is_kept)

    prompts = [json.loads(line) for line in Path(asked).read_text().splitlines()]
    assert len(prompts) == len(set(prompts)) == TEXTS
    assert Call.objects.count() == TEXTS
    assert rows()["title"].text == "京都"
