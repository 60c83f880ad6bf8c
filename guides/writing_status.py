"""How far the writing of a guide is, in a visitor's words, for its page, its card and the API."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any
from uuid import UUID

from django.db.models.functions import Now
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from guides.later import by_when, find_hold, first_waits
from guides.writing.models import Manuscript, SpotState, State
from jobs.llm.models import LLMJob
from jobs.models import Process, Provider, Status
from jobs.models import State as CallState
from jobs.paid import limits, waiting
from jobs.paid.batches import queries
from jobs.paid.batches.strategy import offers_batches, takes_batches
from jobs.paid.waiting import LASTING

POLL = 5  # seconds: a text takes about as long
MOST_LOOKED_AT = 50  # requests of one process


class WritingStatus:
    """A manuscript that is being written, or has failed."""

    def __init__(self, manuscript: Manuscript, *, has_spots: bool) -> None:
        self.manuscript = manuscript
        self.has_spots = has_spots

    @property
    def is_open(self) -> bool:
        return self.manuscript.is_open

    @property
    def is_failed(self) -> bool:
        """Whether there is nothing to read: a guide with spots has not failed for its readers."""
        return not self.is_open and not self.has_spots

    @property
    def error(self) -> str:
        """Why it failed, for staff."""
        return self.manuscript.error

    @property
    def state(self) -> str:
        return self.manuscript.state

    @cached_property
    def coming(self) -> list[str]:
        """The names that the outline has and whose text is on its way, in their order."""
        if self.state != State.TEXTS:
            return []
        planned = self.manuscript.planned.filter(state=SpotState.WRITING)
        return list(planned.values_list("name", flat=True))

    @cached_property
    def _process(self) -> Process | None:
        id = self.manuscript.process_id
        return Process.objects.filter(pk=id).first() if id else None

    @property
    def total(self) -> int:
        """How many texts were asked for; none while there is only an outline."""
        return self._process.total if self._process and self.state == State.TEXTS else 0

    @property
    def ready(self) -> int:
        return self._process.ended if self._process and self.total else 0

    @cached_property
    def when(self) -> str:
        """ "tomorrow" or "late" if all comes by batch, "paused" if nothing is asked now, or ""."""
        ids = [self.manuscript.process_id] if self.is_open and self.manuscript.process_id else []
        return find_when(ids).get(self.manuscript.process_id, "")  # type: ignore[arg-type]

    @property
    def is_slow(self) -> bool:
        return self.when in ("tomorrow", "late")

    @property
    def words(self) -> str:
        if self.is_failed:
            return _("This guide could not be written yet.")
        if not self.total:
            return _("Being written: first the outline")
        text = ngettext(
            "Being written: %(ready)d of %(total)d text",
            "Being written: %(ready)d of %(total)d texts",
            self.total,
        )
        return text % {"ready": self.ready, "total": self.total}

    @property
    def delay(self) -> str:
        words = {
            "tomorrow": _("arrives by tomorrow"),
            "late": _("it takes longer than a day this time"),
            "paused": _("writing is paused for now"),
        }
        return words.get(self.when, "")

    @property
    def code(self) -> str:
        """Changes when a page must show other texts, not when one more request is answered."""
        return f"{self.state} {self.manuscript.process_id}"

    @property
    def shown(self) -> str:
        """Changes whenever a visitor reads something else."""
        return f"{self.words} {self.delay}"


def find_status(plan_id: str, *, has_spots: bool) -> WritingStatus | None:
    rows = Manuscript.objects.unfinished().filter(guide=plan_id, guide__withdrawn_at=None)
    manuscript = rows.first()
    return status_of(manuscript, has_spots=has_spots) if manuscript else None


def status_of(manuscript: Manuscript, *, has_spots: bool) -> WritingStatus | None:
    """None if there is nothing to say: it is written, or a reader misses nothing."""
    found = WritingStatus(manuscript, has_spots=has_spots)
    is_said = found.is_open or (found.is_failed and manuscript.state != State.DONE)
    return found if is_said else None


def find_when(process_ids: Iterable[UUID]) -> dict[UUID, str]:
    """By process: when its texts come, if they do not come by themselves soon."""
    ids = list(process_ids)
    name = LLMJob.provider_name() if ids else None
    provider = limits.find(name) if name else None
    if provider is None:
        return {}
    timed: Any = LLMJob.objects.living().annotate(now=Now())
    found = timed.defer("request_json").filter(process_id__in=ids).order_by("id")
    jobs: dict[UUID, list[Any]] = {}
    for job in found[: MOST_LOOKED_AT * len(ids)]:
        jobs.setdefault(job.process_id, []).append(job)
    later = find_later([job for each in jobs.values() for job in each], provider)
    pause = waiting.pause_of(LLMJob)
    return {id: together(each, later, provider, pause) for id, each in jobs.items()}


def together(jobs: list[Any], later: Mapping[UUID, str], provider: Provider, pause: Any) -> str:
    """What all of these requests have in common."""
    if all(later.get(job.id) for job in jobs):
        return "late" if "late" in {later[job.id] for job in jobs} else "tomorrow"
    held = [job for job in jobs if not later.get(job.id)]
    waits = [waiting.waits_for(job, provider, pause) for job in held]
    return "paused" if all(wait and wait.reason in LASTING for wait in waits) else ""


def find_later(jobs: list[Any], provider: Provider) -> dict[UUID, str]:
    """The requests that are in a batch, or will join one: "tomorrow", or "late" after a day."""
    if not jobs or not offers_batches(provider):
        return {}
    calls = queries.of_jobs(jobs)
    begins = first_waits(calls.values())
    is_held = find_hold(provider) is not None
    found = {}
    for job in jobs:
        call = calls.get(job.id)
        is_new = job.status == Status.QUEUED and not job.epoch and takes_batches(provider)
        if call and (call.state == CallState.INTENT or not is_held):
            found[job.id] = by_when(begins[call.key], job.now)
        elif not call and is_new and not is_held:
            found[job.id] = by_when(job.created_at, job.now)
    return found
