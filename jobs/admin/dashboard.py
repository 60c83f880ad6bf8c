"""The admin's first page: first what needs a person now, then all figures."""

import json
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.formats import date_format, number_format
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from jobs.admin import live, pausing, timeline
from jobs.admin.base import link_to, list_of, may_see
from jobs.admin.failures import failure_lines
from jobs.admin.workers import COLOURS as WORKER_COLOURS
from jobs.admin.workers import LABELS, condition
from jobs.console import figures, needs, shown
from jobs.console.figures import Flow, Model, Timing
from jobs.console.providers import ProviderFigures
from jobs.models import Provider, Status, Worker
from jobs.paid.batches.models import Batch

GREEN, RED = "#16a34a", "#dc2626"


@dataclass(frozen=True)
class StatusCount:
    status: str
    label: str
    number: Any
    link: str


def callback(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """For unfold's DASHBOARD_CALLBACK."""
    return {**context, "title": _("Dashboard"), **dashboard(request)}


@require_GET
def fragment(request: HttpRequest) -> HttpResponse:
    """The dashboard again, for an open page; 304 if only its clock has changed."""
    context = dashboard(request)
    page = render_to_string("admin/jobs/dashboard.html", context, request)
    response = live.unless_same(request, page)
    response["X-As-Of"] = context["now"]  # a page that has not changed was still looked at now
    return response


def dashboard(request: HttpRequest) -> dict[str, Any]:
    """The parts of the dashboard that this user may see."""
    situation = needs.Situation.look()
    models = [model for model in worth_showing(situation) if may_see(request, model)]
    needed = needs.needs(situation)
    return {
        "needs": [
            {"kind": need.kind, "text": need.text, "link": link_to(need.model, need.query)}
            for need in needed
            if may_see(request, need.model)
        ],
        "is_well": not needed,
        "hints": [
            {"text": hint.text, "link": link_to(hint.model, hint.query)}
            for hint in needs.hints(situation)
            if may_see(request, hint.model)
        ],
        "models": [section(request, model, situation) for model in models],
        "providers": situation.providers if may_see(request, Provider) else [],
        "providers_link": list_of(Provider),
        "may_pause": request.user.has_perm("jobs.change_provider"),
        "sees_workers": may_see(request, Worker),
        "workers": [describe(each) for each in situation.workers],
        "workers_link": list_of(Worker),
        "visits": [visits.text(situation.now) for visits in situation.visits],
        "now": date_format(situation.now, "H:i:s"),
    }


def worth_showing(situation: needs.Situation) -> list[Model]:
    """The kinds with figures: those that ask providers first, side by side on a wide screen; then
    those of other apps, and what the queue does for itself last.

    Not batches: "queued" says nothing about one that is at its provider. Not kinds that do
    nothing, nor housekeeping that goes well: they would hide the others.
    """
    kinds = [model for model in situation.statuses if model is not Batch]
    empty = [model for model in kinds if not any(situation.statuses[model].values())]
    idle = set(empty) - figures.active_today(empty, situation.now)

    def is_shown(model: Model) -> bool:
        is_calm = not situation.statuses[model][Status.FAILED]
        is_dull = model in idle or (model.is_housekeeping and is_calm)
        return not is_dull or situation.pause_of(model) is not None

    own = Batch._meta.app_label
    return sorted(
        filter(is_shown, kinds),
        key=lambda model: (model.provider_name() is None, model._meta.app_label == own),
    )


def section(request: HttpRequest, model: Model, situation: needs.Situation) -> dict[str, Any]:
    """One kind of job."""
    hour, day = figures.flows(model, situation.now)
    timings = figures.timings(model, situation.now)
    since = situation.oldest[model]
    return {
        "name": model._meta.verbose_name_plural,
        "key": model._meta.label_lower.replace(".", "-"),
        "statuses": [
            StatusCount(
                status.value,
                str(status.label),
                situation.statuses[model][status],
                link_to(model, {"status__exact": status.value}),
            )
            for status in Status
        ],
        "provider": provider_of(request, model, situation),
        "pause": pausing.shown_pause(request, model, situation.pause_of(model)),
        "queued": situation.statuses[model][Status.QUEUED],
        "oldest": since and shown.short(situation.now - since),
        "hour": hour,
        "day": day,
        "hour_chart": chart(hour),
        "day_chart": chart(day),
        "hour_rate": percent(hour),
        "day_rate": percent(day),
        "timings": rows_of(timings, model),
        "is_sample": timings.is_sample,
        "sample": figures.SAMPLE,
        "failures": failure_lines(model) if situation.statuses[model][Status.FAILED] else [],
    }


def provider_of(
    request: HttpRequest, model: Model, situation: needs.Situation
) -> ProviderFigures | None:
    """Whom this kind of job asks, and with it what was spent there today."""
    if not may_see(request, Provider):
        return None
    name = model.provider_name()
    return next((each for each in situation.providers if each.provider.name == name), None)


def percent(flow: Flow) -> str:
    rate = flow.failure_rate
    return "–" if rate is None else f"{100 * rate:.1f} %"


def chart(flow: Flow) -> str:
    """Data for Chart.js. Colour is only a second sign: the legend has the names."""
    series = [(_("succeeded"), GREEN, "succeeded"), (_("failed"), RED, "failed")]
    return json.dumps(
        {
            "labels": [date_format(bucket.start, "H:i") for bucket in flow.buckets],
            "datasets": [
                {
                    "label": label,
                    "backgroundColor": colour,
                    "data": [int(getattr(bucket, name)) for bucket in flow.buckets],
                }
                for label, colour, name in series
            ],
        }
    )


def rows_of(timings: figures.Timings, model: Model) -> list[dict[str, Any]]:
    """One row per step, with the last hour and the last day side by side."""
    hour = {timing.step: timing for timing in timings.hour}
    steps = timeline.in_order((timing.step for timing in timings.day), model)
    day = {timing.step: timing for timing in timings.day}
    return [
        {
            "step": timeline.label(step, model),
            "hour": in_seconds(hour.get(step)),
            "day": in_seconds(day[step]),
        }
        for step in steps
    ]


def in_seconds(timing: Timing | None) -> dict[str, str]:
    if timing is None:
        return {"number": "–", "mean": "–", "p95": "–"}
    return {
        "number": str(timing.number),
        "mean": exactly(timing.mean),
        "p95": exactly(timing.p95),
    }


def exactly(milliseconds: float) -> str:
    """The time in seconds, with fewer decimals for longer times."""
    seconds = milliseconds / 1000
    return number_format(seconds, 1 if seconds >= 10 else 2 if seconds >= 0.1 else 3)


def describe(worker: Worker) -> dict[str, Any]:
    word = condition(worker)
    return {"worker": worker, "colour": WORKER_COLOURS[word], "state": LABELS[word]}
