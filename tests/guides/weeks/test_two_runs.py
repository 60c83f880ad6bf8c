"""An early run and Monday's run about one week: one asks, and the newer answer stays."""

import pytest

from guides.derived.models import Commission, Version
from guides.weeks import asking
from guides.weeks.jobs import KeepWeek, WeeklySummary
from guides.weeks.keys import Week
from jobs import queue
from jobs.llm.models import LLMJob
from tests.guides.weeks.conftest import (
    KEY,
    WEDNESDAY,
    guide_of,
    text_of,
)
from tests.jobs.conftest import make_due
from tests.jobs.llm.conftest import work

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("first", ["early", "monday"])
def test_an_early_run_and_the_monday_run_ask_once(scribe, first):
    guide_of(WEDNESDAY, "Gate")
    asking.after_new_guide("kyoto")
    early = WeeklySummary.objects.get()
    make_due(early)
    monday = WeeklySummary.for_schedule(Week.parse("2026-W48").starts_at)
    queue.enqueue([monday])
    jobs = {"early": early.pk, "monday": monday.pk}
    other = "monday" if first == "early" else "early"
    for name in (first, other):
        WeeklySummary.objects.exclude(pk=jobs[name]).filter(status="queued").update(priority=9)
        work_one(jobs[name])
    work(LLMJob)
    work(KeepWeek)

    assert Commission.objects.count() == 1
    assert text_of().summary_text


def work_one(pk):
    """Perform this job alone, of all that are due."""
    others = WeeklySummary.objects.exclude(pk=pk).filter(status="queued")
    held = list(others.values_list("pk", flat=True))
    WeeklySummary.objects.filter(pk__in=held).update(run_after="2100-01-01T00:00Z")
    work(WeeklySummary)
    for job in WeeklySummary.objects.filter(pk__in=held):
        make_due(job)


def test_an_early_answer_that_comes_after_mondays_replaces_nothing(writer):
    guide_of(WEDNESDAY, "Gate")
    asking.after_new_guide("kyoto")
    make_due(WeeklySummary.objects.get())
    work(WeeklySummary)
    early = set(LLMJob.objects.values_list("pk", flat=True))
    guide_of(WEDNESDAY, "Tower", plan_id="lisbon")  # the facts change
    asking.weekly_summary(KEY)
    work(WeeklySummary)
    LLMJob.objects.filter(pk__in=early).update(run_after="2100-01-01T00:00Z")
    work(LLMJob)
    work(KeepWeek)
    fresh = text_of()
    writer.answers["en"] = {**writer.answers["en"], "summary_text": "Old news of the week."}
    for job in LLMJob.objects.all():
        make_due(job)
    work(LLMJob)
    work(KeepWeek)

    assert text_of().summary_text == fresh.summary_text
    assert text_of().source_hash == fresh.source_hash
    assert not text_of().is_awaited
    assert Version.objects.filter(payload__summary_text="Old news of the week.").exists()


def test_an_early_answer_is_shown_while_mondays_is_on_its_way(writer):
    guide_of(WEDNESDAY, "Gate")
    asking.weekly_summary(KEY)
    work(WeeklySummary)
    early = set(LLMJob.objects.values_list("pk", flat=True))
    guide_of(WEDNESDAY, "Tower", plan_id="lisbon")
    asking.weekly_summary(KEY)
    work(WeeklySummary)
    LLMJob.objects.exclude(pk__in=early).update(run_after="2100-01-01T00:00Z")
    work(LLMJob)
    work(KeepWeek)

    assert text_of().summary_text
    assert text_of().is_awaited
