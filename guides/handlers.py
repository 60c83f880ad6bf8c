"""The events of guides: which there are, and what follows them."""

import logging
from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _

from guides import services, validators
from guides.topics import asking as topics
from guides.topics import finding
from guides.translation import asking as translation
from guides.translation import following
from guides.weeks import asking as weeks
from guides.writing import asking as writing
from jobs import events
from jobs.models import Event
from jobs.run import Run

log = logging.getLogger(__name__)

GUIDE_WITHDRAWN = "guide.withdrawn"


def names_a_guide(payload: dict[str, Any]) -> Iterator[tuple[str, str]]:
    plan_id = payload.get("plan_id")
    if not isinstance(plan_id, str) or not validators.is_plan_id(plan_id):
        yield ".plan_id", _("This must be a plan id: 1 to 100 letters, digits, - and _.")


events.declare(GUIDE_WITHDRAWN, check=names_a_guide)


def enqueue_topics(event: Event, weightiest: list[str]) -> None:
    topics.enqueue(weightiest)


@events.handles(services.GUIDE_SAVED, name="refresh_topics", then=enqueue_topics, internal=True)
def refresh_topics(event: Event, run: Run) -> list[str]:
    """Weigh the topics of the guide; the summaries of the weightiest are refreshed."""
    return finding.weigh(event.payload["plan_id"])


@events.handles(GUIDE_WITHDRAWN, name="withdraw_guide", then=enqueue_topics)
def withdraw_guide(event: Event, run: Run) -> list[str]:
    """Withdraw the guide. Repeating it changes nothing, also after it was published again."""
    plan_id = event.payload["plan_id"]
    if not services.withdraw_guide(plan_id, event.created_at):
        log.info("%s of %s: no such guide, or it was published later", event, plan_id)
        return []
    writing.stop(plan_id)  # what is not written or translated yet is not bought
    translation.stop(plan_id, by="its guide")
    return finding.weigh(plan_id)


@events.handles(services.GUIDE_SAVED, name="sum_up_week", internal=True)
def sum_up_week(event: Event, run: Run) -> None:
    """Sum up the week of a new guide, if nothing is said of it yet."""
    if event.payload["change"] == "created":
        weeks.after_new_guide(event.payload["plan_id"])


@events.handles(services.GUIDE_SAVED, name="translate_guide", internal=True)
def translate_guide(event: Event, run: Run) -> None:
    """Let the guide's translations follow. Repeating it is as harmless as another save."""
    following.follow(event.payload["plan_id"])
