"""Workers are killed while a week is summed up: nothing is asked or kept twice."""

import pytest

from guides.derived.models import Commission, Version
from guides.weeks import asking
from guides.weeks.jobs import KeepWeek, WeeklySummary
from jobs.llm.models import LLMJob
from jobs.models import Call, Status
from tests.guides.weeks.conftest import KEY, WEDNESDAY, guide_of, text_of
from tests.jobs import processes
from tests.jobs.processes import wait_until

pytestmark = [pytest.mark.long, pytest.mark.django_db(transaction=True)]
start = processes.start

# Dies when it settles a job of this kind: after its work is done, before that is written down.
DYING = """
import django; django.setup()
import os
from jobs import queue
real = queue.settle
def fatal(ends, *arguments, **options):
    if any(type(end.job).__name__ == "{kind}" for end in ends):
        {before}
        real(ends, *arguments, **options)
        os.kill(os.getpid(), 9)
    return real(ends, *arguments, **options)
queue.settle = fatal
"""
POINTS = {"before": "os.kill(os.getpid(), 9)", "after": "pass"}


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("model", [WeeklySummary, LLMJob, KeepWeek])
def test_a_worker_killed_at_any_step_leaves_one_text(start, model, point, scribe):
    guide_of(WEDNESDAY, "Gate")
    asking.weekly_summary(KEY)
    jobs = "--jobs", "guides.WeeklySummary", "guides.KeepWeek", "jobs.LLMJob"
    code = DYING.format(kind=model.__name__, before=POINTS[point])
    victim = start(*jobs, slots=1, before=code)
    assert victim.exit_code() == -9
    victim.expire(model)

    start(*jobs)
    wait_until(lambda: KeepWeek.objects.filter(status=Status.SUCCEEDED).exists())

    assert text_of("en").summary_text
    assert text_of("ja").summary_text
    assert Commission.objects.count() == 1
    assert Version.objects.count() == 2
    assert Call.objects.count() == 2  # one per language
    assert not LLMJob.objects.exists()
