"""What commissions say to people: who answered, how many requests, what it cost, how long."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from guides.derived.models import Commission
from guides.models import Guide
from jobs.console import following, shown
from jobs.console.subjects import Subject
from jobs.models import Job, Process, Status
from jobs.paid import money


@dataclass(frozen=True)
class Standing:
    """A commission, its process and what keeps its answers, as far as these still exist."""

    commission: Commission
    process: Process | None = None
    keeper: Job | None = None

    @property
    def is_stuck(self) -> bool:
        """Whether it needs a person: nothing will be kept by itself."""
        if self.commission.kept_at:
            return False
        if self.process is None or self.process.follow_error:
            return True
        if self.process.ended_at and not self.process.follow:
            return True  # a person has let nothing follow
        has_followed = self.process.followed_at is not None
        has_given_up = self.keeper is None or self.keeper.status in GIVEN_UP
        return has_followed and has_given_up

    @property
    def state(self) -> str:
        if self.commission.kept_at:
            return _("kept")
        return _("failed") if self.is_stuck else _("waiting")

    @property
    def colour(self) -> str:
        if self.is_stuck:
            return "danger"
        if not self.commission.kept_at:
            return "info"
        return "warning" if self.commission.failed else "success"

    @property
    def facts(self) -> str:
        """As in "by gemini:…, 7 requests, 1 failed, 0.03 USD, 12 s"."""
        return ", ".join(_facts(self.commission))


GIVEN_UP = (Status.FAILED, Status.CANCELED)


def _facts(commission: Commission) -> Iterable[str]:
    if commission.made_by:
        yield _("by %s") % commission.made_by
    number = commission.requests
    yield ngettext("%s request", "%s requests", number) % shown.number(number)
    if commission.failed:
        yield _("%s failed") % shown.number(commission.failed)
    if commission.kept_at:
        yield money.shown(commission.cost)
        yield lasted(commission)


def lasted(commission: Commission) -> str:
    """From the question until the answers were kept; empty until then."""
    return shown.short(commission.kept_at - commission.created_at) if commission.kept_at else ""


def look(rows: Iterable[Commission]) -> list[Standing]:
    """These commissions with what became of those that are not kept: a few queries for all."""
    commissions = list(rows)
    open_ones = [each.pk for each in commissions if not each.kept_at]
    processes = Process.objects.in_bulk(open_ones) if open_ones else {}
    keepers = following.followers(processes.values())
    return [Standing(each, processes.get(each.pk), keepers.get(each.pk)) for each in commissions]


def subjects_of(ids: Collection[UUID]) -> Mapping[UUID, Subject]:
    """For the console's page of a process."""
    found = look(Commission.objects.filter(pk__in=list(ids)))
    plans = {each.commission.plan_id for each in found} - {""}
    guides = Guide.objects.in_bulk(plans) if plans else {}
    return {
        each.commission.pk: _subject(each, guides.get(each.commission.plan_id)) for each in found
    }


def _subject(standing: Standing, guide: Guide | None) -> Subject:
    commission = standing.commission
    text = f"{guide.title if guide else commission.subject} ({commission.slice})"
    rows = [guide, commission] if guide else [commission]
    return Subject(text, f"{standing.state}: {standing.facts}", rows)
