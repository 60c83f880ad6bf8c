"""Asking for the summary of a week: by hand, and after a new guide."""

from datetime import timedelta

from django.db.models.functions import Now

from guides.derived import prices
from guides.derived.prices import Price
from guides.models import Guide
from guides.weeks import facts
from guides.weeks.jobs import Wanted, WeeklySummary
from guides.weeks.keys import Week
from guides.weeks.models import WeekText
from jobs import queue

SOON = timedelta(seconds=10)  # guides that are saved together are summed up together
COOLDOWN = timedelta(hours=6)
LETTERS_PER_TOKEN = 2  # of English and Japanese prompts, rather too few


def weekly_summary(week_key: object, *, wanted: Wanted = Wanted.CHANGED, by: object = "") -> bool:
    """Sum up a week; raises InvalidWeek. False: it is being summed up already."""
    key = Week.parse(week_key).key
    job = WeeklySummary(week_key=key, wanted=wanted, asked_by=str(by), unique_key=key)
    return bool(queue.enqueue([job]))


def after_new_guide(plan_id: str) -> bool:
    """Sum up the week of a new guide, if it has no text yet and none is on its way.

    However many guides are saved at once, it is asked for once, and not again for some hours.
    """
    guide = Guide.objects.published().filter(pk=plan_id).first()
    if guide is None:
        return False
    key = Week.of(guide.created_at).key
    if is_begun(key):
        return False
    job = WeeklySummary(
        week_key=key,
        wanted=Wanted.MISSING,
        unique_key=f"early {key}",
        run_after=Now() + SOON,
    )
    return bool(queue.enqueue([job], not_within=COOLDOWN))


def is_begun(week_key: str) -> bool:
    rows = WeekText.objects.filter(week_key=week_key)
    return rows.written().exists() or rows.filter(is_awaited=True).exists()


def price_of(week: Week) -> Price | None:
    """What it will cost to ask for all texts of a week; None: it has no guides to ask about."""
    draft = facts.gather(week)
    if not draft.facts:
        return None
    letters = [
        len(request["prompt"] + request["system"]) for request in map(draft.request, draft.facts)
    ]
    return prices.of_requests(
        len(letters),
        input_tokens=max(letters) // LETTERS_PER_TOKEN,
        output_tokens=facts.MAX_TOKENS,
    )
