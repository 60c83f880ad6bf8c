"""The progress of a guide's texts and pictures, for its page and for the API."""

import hashlib
import json
import zlib
from collections import Counter
from functools import cached_property
from math import ceil
from typing import Any

from django.db.models import Exists, OuterRef
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _

from guides import estimates, validators, writing_status
from guides.estimates import Estimate
from guides.later import find_hold, find_later
from guides.models import Guide, SpotDetail
from guides.writing.models import Manuscript
from guides.writing_status import WritingStatus
from jobs.models import Provider
from jobs.paid.waiting import LASTING, Reason, Wait

SOONEST_POLL, LATEST_POLL = 2, 30  # seconds
POLL_WITHOUT_ESTIMATE = 10
POLL_SELDOM = 600
LISTED = 12  # lines of a table of contents; the last one may say how many more there are
CODE = 4  # characters for the state of one spot on a page


class GuideStatus:
    """All spots of a guide and their jobs; the number of queries does not depend on how many."""

    def __init__(self, plan_id: str, guide: Guide | None = None) -> None:
        self.plan_id = plan_id
        # In the same query: a page that polls learns of a withdrawal without another one.
        spots = SpotDetail.objects.filter(guide=plan_id, guide__withdrawn_at=None)
        unfinished = Manuscript.objects.unfinished().filter(guide=OuterRef("guide_id"))
        self.spots: list[Any] = list(spots.with_jobs().annotate(is_unwritten=Exists(unfinished)))
        self.writing = self.find_writing(guide)
        for spot in self.spots:
            spot.comes_later = self.later.get(spot.spot_name, "")

    def find_writing(self, guide: Guide | None) -> WritingStatus | None:
        """A page has read the manuscript with its guide; others ask for it if there is one."""
        if guide is not None:
            known = getattr(guide, "manuscript", None)
            return known and writing_status.status_of(known, has_spots=bool(self.spots))
        if self.spots and not self.spots[0].is_unwritten:
            return None
        return writing_status.find_status(self.plan_id, has_spots=bool(self.spots))

    @property
    def is_being_written(self) -> bool:
        return self.writing is not None and self.writing.is_open

    @property
    def total(self) -> int:
        return len(self.spots)

    @property
    def listed(self) -> list[SpotDetail]:
        """The spots in the page's table of contents."""
        return self.spots[: LISTED if self.total <= LISTED else LISTED - 1]

    @property
    def unlisted(self) -> list[SpotDetail]:
        return self.spots[len(self.listed) :]

    @cached_property
    def states(self) -> str:
        """The code of every spot: short enough for a URL with 500 spots."""
        return "".join(map(code, self.spots))

    @cached_property
    def counts(self) -> Counter[str]:
        """How many pictures are ready, loading, failed or none."""
        return Counter(spot.picture_state for spot in self.spots)

    @property
    def ready(self) -> int:
        return self.counts["ready"]

    @property
    def loading(self) -> int:
        return self.counts["loading"]

    @property
    def ended(self) -> int:
        """How many pictures are no longer loading, failed ones included."""
        return self.total - self.loading

    @property
    def percent(self) -> int:
        if not self.total:
            return 0 if self.is_being_written else 100
        return 100 * self.ended // self.total

    @cached_property
    def is_final(self) -> bool:
        """Whether nothing will change any more: no text and no picture is still to come."""
        if self.is_being_written:
            return False
        return not self.loading and not any(spot.awaits_picture for spot in self.spots)

    @property
    def milestone(self) -> int:
        return milestone(codes(self.states))

    @property
    def fingerprint(self) -> str:
        """Changes when spots are added, removed or reordered, and with each step of the writing."""
        parts = [str(spot.pk) for spot in self.spots]
        return short(",".join([*parts, self.writing.code] if self.writing else parts))

    @cached_property
    def jobs(self) -> dict[str, Any]:
        is_painted = not self.loading and not any(spot.awaits_picture for spot in self.spots)
        return {} if is_painted else estimates.living_jobs(self.plan_id)

    @cached_property
    def provider(self) -> Provider | None:
        """The provider whose limits the missing pictures wait for."""
        return estimates.find_provider() if self.jobs else None

    @cached_property
    def _waits(self) -> dict[str, Wait]:
        return estimates.waits_for(self.jobs, self.provider)

    @cached_property
    def _by_batch(self) -> dict[str, str]:
        return find_later(self.jobs, self._waits, self.provider)

    @cached_property
    def later(self) -> dict[str, str]:
        """The spots whose picture comes by batch: "tomorrow", or "late" after a day."""
        return {name: when for name, when in self._by_batch.items() if when}

    @cached_property
    def held(self) -> dict[str, Wait]:
        """The spots whose picture would come by batch, and why no batch takes it now."""
        names = self._by_batch.keys() - self.later.keys()
        hold = find_hold(self.provider) if names and self.provider else None
        return dict.fromkeys(names, hold) if hold else {}

    @cached_property
    def waits(self) -> dict[str, Wait]:
        """What each picture that is not being made waits for."""
        return {**self._waits, **self.held, **dict.fromkeys(self.later, Wait(Reason.BATCH))}

    @property
    def is_slow(self) -> bool:
        """Whether every text and every picture that is still to come comes by batch."""
        if self.writing and self.is_being_written and not self.writing.is_slow:
            return False
        is_awaited = bool(self.jobs) or self.is_being_written
        return is_awaited and self.jobs.keys() <= self.later.keys()

    @cached_property
    def estimates(self) -> dict[str, Estimate]:
        return estimates.estimate(self.plan_id, self.jobs, self.waits, self.provider)

    @property
    def seconds(self) -> int | None:
        """Seconds until the last picture is ready; None when unknown."""
        return estimates.together(self.estimates.values())

    @property
    def poll_after(self) -> int | None:
        """Seconds to wait before the next poll; None when polling is over."""
        if self.is_final:
            return None
        if self.is_slow:
            return POLL_SELDOM
        if self.writing and self.is_being_written and not self.writing.is_slow:
            return writing_status.POLL
        known = [each.seconds for each in self.estimates.values() if each.seconds is not None]
        wanted = ceil(min(known) / 2) if known else POLL_WITHOUT_ESTIMATE
        return min(max(wanted, SOONEST_POLL), LATEST_POLL)

    def etag_with(self, texts: object) -> str:
        """A weak tag: two answers with the same tag may differ in position and seconds."""
        facts: list[Any] = [self.plan_id, get_language(), self.is_final, texts]
        if self.writing:
            facts.append([self.writing.code, self.writing.shown])
        for spot in self.spots:
            wait = self.waits.get(spot.spot_name)
            until = wait and wait.until and wait.until.strftime("%Y-%m-%d %H:%M")
            facts.append([spot.pk, spot.spot_name, spot.picture_state, spot.image_status])
            facts.append([spot.image_url, wait and wait.reason, until, spot.comes_later])
        digest = hashlib.sha256(json.dumps(facts).encode(errors="replace")).hexdigest()
        return f'W/"{digest[:32]}"'

    @cached_property
    def time_left(self) -> str:
        """The seconds in rough words, or why they are unknown; empty when neither can be said."""
        if not self.loading:
            return ""
        return self.delay if self.seconds is None else time_left(self.seconds)

    @property
    def delay(self) -> str:
        """What keeps the pictures, in a visitor's words: no prices, limits or names."""
        loading = [spot for spot in self.spots if spot.picture_state == "loading"]
        later = [spot for spot in loading if spot.comes_later]
        provider = self.provider
        reasons = {wait.reason for wait in self.waits.values()} - {Reason.BATCH}
        if later and reasons.isdisjoint(LASTING):
            return self.by_batch(len(later))
        if provider is None or not reasons:
            return ""
        if reasons == {Reason.BUDGET} and goes_on_tomorrow(provider, batch=bool(self.held)):
            return _("today’s pictures are used up; more tomorrow")
        if reasons <= set(LASTING):
            return _("painting is paused for now")
        if any((each.position or 0) >= provider.affordable for each in self.estimates.values()):
            return _("not all pictures will come today")
        return ""

    def by_batch(self, count: int) -> str:
        if "late" in self.later.values():
            return _("it takes longer than a day this time")
        if count < self.loading:
            return _("the last ones arrive by tomorrow")
        return ngettext("it arrives by tomorrow", "they arrive by tomorrow", count)

    @property
    def left_code(self) -> str:
        return short(self.time_left + (self.writing.shown if self.writing else ""))


def find_status(plan_id: str) -> GuideStatus | None:
    """The status of a guide; None when there is no such guide, or when it is withdrawn."""
    if not validators.is_plan_id(plan_id):
        return None
    found = GuideStatus(plan_id)
    is_there = found.spots or found.writing or Guide.objects.published().filter(pk=plan_id).exists()
    return found if is_there else None


def goes_on_tomorrow(provider: Provider, *, batch: bool) -> bool:
    """Whether tomorrow's budget covers a picture. A day booked ahead of today ends later."""
    budget = provider.daily_budget
    is_enough = budget is None or (budget > 0 and budget >= provider.cost(batch=batch))
    return is_enough and provider.booking_day == provider.today


def code(spot: SpotDetail) -> str:
    """The first letter of ready, loading, failed or none, and a hash of the picture.

    A capital letter means that another picture will replace this one.
    """
    letter = spot.picture_state[0]
    if spot.comes_later and letter == "l":
        return f"l{spot.comes_later[:3]}"
    if spot.awaits_picture and letter == "r":
        letter = "R"
    return letter + short(spot.shown_url)[-3:]


def codes(states: str) -> list[str]:
    return [states[at : at + CODE] for at in range(0, len(states), CODE)]


def looks_alike(before: str, now: str) -> bool:
    """Whether both codes look the same to a visitor; a coming replacement is not visible."""
    return before.lower() == now.lower()


def milestone(states: list[str]) -> int:
    """Finished quarters of the work: a screen reader announces each."""
    loading = sum(state[:1] == "l" for state in states)
    return 4 * (len(states) - loading) // len(states) if states else 4


def short(text: str) -> str:
    return f"{zlib.crc32(text.encode(errors='replace')):08x}"


def time_left(seconds: int | None) -> str:
    if seconds is None:
        return ""
    if seconds <= 20:
        return _("a few seconds left")
    if seconds < 60:
        return _("less than a minute left")
    minutes = ceil(seconds / 60)
    if minutes > 60:
        return _("more than an hour left")
    return ngettext("about %(minutes)d minute left", "about %(minutes)d minutes left", minutes) % {
        "minutes": minutes
    }
