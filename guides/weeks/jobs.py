"""The jobs of the week: one asks for its texts, the other keeps them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Self

from django.db import models
from django.utils.translation import gettext_lazy as _

from guides.derived import commissions
from guides.derived.models import Commission
from guides.weeks import facts, keeping
from guides.weeks.facts import Draft
from guides.weeks.keys import Week
from guides.weeks.models import WeekText, begin
from jobs.llm.models import LLMJob
from jobs.models import Job
from jobs.run import Run
from jobs.schedules import Weekly


class Wanted(models.TextChoices):
    """Which languages of a week are asked for."""

    CHANGED = "changed", _("those whose facts have changed")
    MISSING = "missing", _("those without a text")
    ALL = "all", _("all of them, again")


class KeepWeek(commissions.Keeper):
    """Keeps the texts of a week when the last of them is answered."""

    week_key = models.CharField(_("week"), max_length=8)
    # A language and the hash of its facts for each request, in their order.
    asked_for = models.JSONField(default=list)

    slice = "weeks"
    is_housekeeping = True

    class Meta(commissions.Keeper.Meta):
        db_table = "keep_week_jobs"
        verbose_name = _("keeping of a week")
        verbose_name_plural = _("keeping of weeks")

    def __str__(self) -> str:
        return self.week_key

    def keep(self, answers: Sequence[LLMJob], commission: Commission) -> None:
        keeping.keep(self.week_key, self.asked_for, answers, commission)

    def gave_up(self, reason: str) -> None:
        self.await_them(False)

    def resumed(self) -> None:
        self.await_them(True)

    def await_them(self, is_awaited: bool) -> None:
        """Note whether the texts are on their way, unless others were asked for since."""
        rows = WeekText.objects.filter(week_key=self.week_key, asked=self.asked)
        rows.update(is_awaited=is_awaited)


def ask_for(draft: Draft, wanted: Wanted, by: object = "") -> Commission | None:
    """Ask for the texts that are wanted, in the caller's transaction; None: for none of them."""
    begin(draft.week, draft.facts)
    rows = WeekText.objects.locked(draft.week.key)
    codes = [code for code in draft.facts if is_wanted(rows[code], draft, wanted)]
    if not codes:
        return None
    asked_for = [[code, draft.hash_of(code)] for code in codes]
    keeper = KeepWeek(week_key=draft.week.key, asked_for=asked_for)
    requests = [draft.request(code) for code in codes]
    commission = commissions.ask(requests, then=keeper, subject=draft.week.key, by=by)
    bounds = {"starts_at": draft.week.starts_at, "ends_at": draft.week.ends_at}
    for code, source_hash in asked_for:
        row = WeekText.objects.filter(pk=rows[code].pk)
        row.update(asked=commission.pk, asked_hash=source_hash, is_awaited=True, **bounds)
    return commission


def is_wanted(row: WeekText, draft: Draft, wanted: Wanted) -> bool:
    if wanted == Wanted.MISSING:
        return not (row.summary_text or row.is_awaited)
    if row.is_awaited:
        return row.asked_hash != draft.hash_of(row.language)
    return wanted == Wanted.ALL or row.source_hash != draft.hash_of(row.language)


class WeeklySummary(Job):
    """Sums up a week: asks for its text in every language of the site."""

    week_key = models.CharField(_("week"), max_length=8)
    wanted = models.CharField(
        _("languages"),
        max_length=10,
        choices=Wanted.choices,
        default=Wanted.CHANGED,
        db_default=Wanted.CHANGED,
    )
    asked_by = models.TextField(_("asked by"), blank=True, default="", db_default="")

    schedule = Weekly("monday", "06:00")

    class Meta(Job.Meta):
        db_table = "weekly_summary_jobs"
        verbose_name = _("summing up of a week")
        verbose_name_plural = _("summing up of weeks")

    def __str__(self) -> str:
        return self.week_key

    @classmethod
    def for_schedule(cls, scheduled_for: datetime, **arguments: Any) -> Self:
        """The week before this moment's."""
        key = Week.of(scheduled_for).before.key
        return cls(week_key=key, unique_key=key, **arguments)

    def perform(self, run: Run) -> Draft:
        return facts.gather(Week.parse(self.week_key))

    def on_success(self, result: Draft) -> None:
        """Ask in the transaction that ends this job, and so exactly once."""
        if result.facts:
            ask_for(result, Wanted(self.wanted), by=self.asked_by)
