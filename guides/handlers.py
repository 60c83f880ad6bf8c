"""The events of guides: which there are, and what follows them."""

import logging
from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _

from guides import services, validators
from guides.writing import asking
from jobs import events
from jobs.models import Event
from jobs.run import Run

log = logging.getLogger(__name__)

GUIDE_WITHDRAWN = "guide.withdrawn"


def names_a_guide(payload: dict[str, Any]) -> Iterator[tuple[str, str]]:
    plan_id = payload.get("plan_id")
    if not isinstance(plan_id, str) or not validators.is_plan_id(plan_id):
        yield ".plan_id", _("This must be a plan id: 1 to 100 letters, digits, - and _.")


events.declare(services.GUIDE_SAVED, internal=True)  # nothing follows it yet
events.declare(GUIDE_WITHDRAWN, check=names_a_guide)


@events.handles(GUIDE_WITHDRAWN, name="withdraw_guide")
def withdraw_guide(event: Event, run: Run) -> None:
    """Withdraw the guide. Repeating it changes nothing, also after it was published again."""
    plan_id = event.payload["plan_id"]
    if services.withdraw_guide(plan_id, event.created_at):
        asking.stop(plan_id)  # what is not written yet is not bought
    else:
        log.info("%s of %s: no such guide, or it was published later", event, plan_id)
