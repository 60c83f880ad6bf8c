"""Batches: where each one is, in the provider's words and in ours, its calls and its cost."""

from datetime import timedelta
from typing import Any

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import Q
from django.http import HttpRequest
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from jobs.admin import hurrying
from jobs.admin.asking import AskingAdmin, Question
from jobs.admin.attempts import job_link
from jobs.admin.bars import bar
from jobs.admin.base import link_to
from jobs.admin.filters import BatchFilter, CallProviderFilter, CreatedFilter, StageFilter
from jobs.admin.jobs import JobAdmin
from jobs.admin.skin import display
from jobs.console import audit, batches, counting, shown
from jobs.console.batches import AGAIN, Standing
from jobs.console.shown import number
from jobs.console.stages import COLOURS, Stage
from jobs.db import clock
from jobs.models import Call, State, Status
from jobs.paid import money, waiting
from jobs.paid.batches import asked, queries
from jobs.paid.batches.models import Batch

CANCEL, LOOK = "cancel", "look"
NOT_YET = (Stage.COLLECTING, Stage.UNCERTAIN)  # a look would find nothing, or use up one of few
MOST = 50  # of its calls on its page; the list of calls has all


@admin.register(Batch)
class BatchAdmin(AskingAdmin, JobAdmin):
    list_display = [
        *("subject", "provider", "stage", "said", "bar", "counts", "lasts", "spent"),
    ]
    list_filter = [
        "status",
        StageFilter,
        CallProviderFilter,
        ("created_at", CreatedFilter),
    ]
    search_help_text = _("id, remote id or token")
    exhibit_template = "admin/jobs/batch.html"
    # No "cancel": its own one asks the provider. No "rerun": its results are handed out.
    job_actions = ("requeue", "remove")
    question_names = (CANCEL, LOOK, hurrying.HURRY)

    def search(self, term: str) -> Q:
        return super().search(term) | Q(token=term) | Q(remote_id=term)

    # The list

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        """Without tabs: "queued" says nothing about a batch that is at its provider."""
        return super().changelist_view(request, {"tabs": [], **(extra_context or {})})

    def adorn(self, rows: list[Any]) -> None:
        for standing in batches.look(rows, clock.now()):
            standing.batch.standing = standing  # type: ignore[attr-defined]

    @admin.display(description=_("batch"))
    def subject(self, batch: Any) -> str:
        return str(batch.remote_id or f"{batch.token[:12]}…")

    @display(description=_("stage"), label=COLOURS)  # type: ignore[untyped-decorator]
    def stage(self, batch: Any) -> tuple[str, str]:
        stage = batch.standing.stage
        return stage.value, str(stage.label)

    @admin.display(description=_("in the provider’s words"))
    def said(self, batch: Batch) -> str:
        return batch.state

    @admin.display(description=_("progress"))
    def bar(self, batch: Any) -> str:
        return bar_of(batch.standing)

    @admin.display(description=_("done / failed / all"))
    def counts(self, batch: Any) -> str:
        if not batch.standing.has_counts:
            return number(batch.standing.size) if batch.standing.size else ""
        standing = batch.standing
        return f"{number(standing.done)} / {number(standing.failed)} / {number(batch.total)}"

    @admin.display(description=_("time"))
    def lasts(self, batch: Any) -> str:
        return str(batch.standing.time)

    @admin.display(description=_("cost"))
    def spent(self, batch: Any) -> str:
        if batch.standing.has_left or (batch.booked and not batch.ended_at):
            return gettext("booked %s") % money.shown(batch.booked)
        return money.shown(batch.standing.cost)

    # The page of one batch

    def describe(self, request: HttpRequest, batch: Any) -> dict[str, Any]:
        standing = batches.look_into(batch, clock.now())
        waits = counting.count(batches.waiting(batch))
        usual = queries.usual_seconds(batch.provider) if standing.is_living else None
        return {
            **super().describe(request, batch),
            "label": {"colour": standing.colour, "text": standing.stage.label},
            "wait": None,  # between two looks it is no job that waits for its turn
            "standing": standing,
            "bar": bar_of(standing),
            "states": [
                (gettext("asked again") if state == AGAIN else State(state).label, number(count))
                for state, count in standing.members.items()
            ],
            "waits": waits,
            "held_up": held_up(batch, standing),
            "usual": "" if usual is None else shown.short(timedelta(seconds=usual)),
            "next_look": next_look(standing),
            "members": members(batch, standing),
            "members_link": link_to(Call, {BatchFilter.parameter_name: str(batch.pk)}),
            "members_most": MOST,
            "buttons": self.buttons(request, batch),
        }

    # What people ask for

    def questions(self, request: HttpRequest, batch: Batch) -> list[Question]:
        standing = Standing(batch, clock.now())
        offered = []
        if standing.is_living and not batch.ended_at:
            if batch.status == Status.QUEUED and standing.stage not in NOT_YET:
                offered.append(Question(LOOK, _("Look now"), asks=False))
            if batch.create_sent_at and not batch.cancel_asked:
                offered.append(Question(CANCEL, _("Cancel at the provider"), cancel_effects))
        return [*offered, *hurrying.questions([batches.waiting(batch)])]

    def carry_out(self, request: HttpRequest, batch: Batch, name: str) -> None:
        if name == hurrying.HURRY:
            hurrying.hurry(self, request, batch, [batches.waiting(batch)])
        else:
            {CANCEL: self.cancel, LOOK: self.look_now}[name](request, batch)

    def cancel(self, request: HttpRequest, batch: Batch) -> None:
        with transaction.atomic():
            if not asked.cancel(batch, request.user):
                text = gettext("Nothing of it runs at the provider now.")
                self.message_user(request, text, messages.WARNING)
                return
            audit.note(request.user, [batch], gettext_noop("Asked to cancel it at the provider."))
        text = gettext("The provider is asked to cancel it. What is finished is used.")
        self.message_user(request, text, messages.SUCCESS)

    def look_now(self, request: HttpRequest, batch: Batch) -> None:
        with transaction.atomic():
            asked.look_now(batch)
            audit.note(request.user, [batch], gettext_noop("Asked to look now."))
        text = gettext("A worker looks at it as soon as one is free.")
        self.message_user(request, text, messages.SUCCESS)


def cancel_effects() -> list[str]:
    return [
        gettext("The provider stops as soon as it can. That may take a while."),
        gettext("What it has finished is paid for, and used."),
        gettext("What was not paid for goes into the next batch, unless it is made at once."),
    ]


def held_up(batch: Batch, standing: Standing) -> str:
    """What keeps its calls from being sent: a pause, a budget; empty once they are."""
    if batch.create_sent_at or not standing.is_living:
        return ""
    return batches.held_up([batch.provider]).get(batch.provider, "")


def next_look(standing: Standing) -> str:
    """When a worker looks at it next; empty while one does, and when it has ended."""
    batch = standing.batch
    if batch.status != Status.QUEUED:
        return ""
    if pause := waiting.pause_of(Batch):
        return waiting.paused(pause).text
    if batch.run_after <= standing.now:
        return gettext("as soon as a worker is free")
    return shown.moment(batch.run_after)


def members(batch: Batch, standing: Standing) -> list[Any]:
    calls: list[Any] = list(Call.objects.filter(batch_id=batch.pk).order_by("pk")[:MOST])
    for call in calls:
        call.shown = call.shown_state(standing.now)
        call.link = job_link(call.kind, call.job_id)
    return calls


def bar_of(standing: Standing) -> str:
    batch = standing.batch
    if not standing.has_counts:
        return bar([], 0, gettext("The provider has told no numbers yet."))
    text = gettext("%(percent)s %%: %(done)s done, %(failed)s failed, of %(total)s") % {
        "percent": standing.percent,
        "done": number(standing.done),
        "failed": number(standing.failed),
        "total": number(batch.total),
    }
    return bar([("success", standing.done), ("danger", standing.failed)], batch.total, text)
