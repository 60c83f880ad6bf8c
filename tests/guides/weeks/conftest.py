import json
from datetime import UTC, datetime

import pytest
from django.db.models.functions import Now

from guides.models import Guide
from guides.weeks import asking
from guides.weeks.jobs import KeepWeek, Wanted, WeeklySummary
from guides.weeks.keys import Week
from guides.weeks.models import WeekText
from jobs import queue
from jobs.events.models import EventJob
from jobs.llm.models import LLMJob
from jobs.models import Provider
from tests.guides.pages import new_guide
from tests.jobs.llm.conftest import quill, raw, work

__all__ = ["quill"]  # fixtures

KEY = "2026-W47"
WEDNESDAY = datetime(2026, 11, 18, 12, tzinfo=UTC)  # of that week
ENGLISH = {
    "summary_text": "A quiet week with one walk through Kyoto.",
    "key_events": ["Kyoto has a guide now."],
    "what_changed": "One more than the week before.",
}
JAPANESE = {
    "summary_text": "京都を歩くガイドがひとつ増えた、静かな一週間でした。",
    "key_events": ["京都のガイドができました。"],
    "what_changed": "先週よりひとつ多くなりました。",
}


@pytest.fixture
def scribe(pictures, transactional_db):
    """The offline writer, without limits, and a folder for its answers."""
    Provider.objects.create(name="scribe", requests_per_minute=None)


@pytest.fixture
def writer(quill):
    """A writer that answers in the language that it is asked for, and notes what it was asked."""
    write = quill.write
    quill.answers = {"en": ENGLISH, "ja": JAPANESE}

    def answer(request, timeout):
        language = "ja" if "Language: ja" in request["prompt"] else "en"
        quill.reply = raw(json.dumps(quill.answers[language]))
        return write(request, timeout)

    quill.write = answer
    return quill


def guide_of(moment=WEDNESDAY, *names, plan_id="kyoto", **facts):
    """A guide that was created at this moment. What follows it is canceled."""
    guide = new_guide(*names, plan_id=plan_id, **facts)
    queue.cancel(EventJob.objects.all())
    Guide.objects.filter(pk=guide.pk).update(created_at=moment)
    guide.refresh_from_db()
    return guide


def sum_up(key=KEY, wanted=Wanted.CHANGED):
    """Let a week be summed up from beginning to end."""
    assert asking.weekly_summary(key, wanted=wanted)
    finish()


def finish():
    """Do all that is left to do."""
    WeeklySummary.objects.filter(status="queued").update(run_after=Now())
    work(WeeklySummary)
    work(LLMJob)
    work(KeepWeek)


def text_of(language="en", key=KEY):
    return WeekText.objects.get(week_key=key, language=language)


def withdraw(plan_id="kyoto"):
    Guide.objects.filter(pk=plan_id).update(withdrawn_at=Now())


NONSENSE = [
    *("2026-W54", "2026-W00", "0000-W01", "9999-W52", "1999-W52", "2026-W5", "2026-w47", "2026W47"),
    *("2025-W53", "", " 2026-W47", "2026-W47\n", "٢٠٢٦-W47", "x" * 10_000, "9" * 30 + "-W01"),
    *(None, 202647, b"2026-W47", "\x00", "2026-W-1"),
]


def say(key=KEY, language="en", **data):
    """Write the text of a week, and give the week a guide."""
    week = Week.parse(key)
    answer = {**(JAPANESE if language == "ja" else ENGLISH), **data}
    bounds = {"starts_at": week.starts_at, "ends_at": week.ends_at}
    columns = {"summary_text": answer["summary_text"], "summary_json": answer, **bounds}
    WeekText.objects.create(week_key=key, language=language, **columns)
    if not Guide.objects.filter(plan_id=key).exists():
        new_guide("Gate", plan_id=key)
        Guide.objects.filter(pk=key).update(created_at=week.starts_at, title=f"Guide of {key}")
