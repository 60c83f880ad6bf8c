"""Commissions: what slices asked language models for, and what it cost."""

from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from guides.derived import told
from guides.derived.models import Commission, Version
from guides.models import Guide
from jobs.admin import ReadOnlyAdmin
from jobs.admin.base import as_uuid, link_to, may_see, page_of
from jobs.models import Process
from jobs.paid import money

COLOURS = {colour: colour for colour in ("success", "info", "warning", "danger")}


@admin.register(Commission)
class CommissionAdmin(ReadOnlyAdmin):
    list_display = [
        *("subject", "slice", "state", "made_by", "requests", "failed", "price", "lasted"),
        *("asked_by", "created_at"),
    ]
    ordering = ["-created_at"]
    search_fields = ["plan_id"]  # only to show the search box
    search_help_text = _("plan id of a guide, or id of a process")
    change_form_template = "admin/guides/commission.html"

    def get_search_results(
        self, request: HttpRequest, queryset: Any, search_term: str
    ) -> tuple[Any, bool]:
        term = search_term.strip().replace("\x00", "")
        if not term:
            return queryset, False
        id = as_uuid(term)
        # Not an OR: each of them has its own index.
        if id and Commission.objects.filter(pk=id).exists():
            return queryset.filter(pk=id), False
        return queryset.exclude(plan_id="").filter(plan_id=term), False

    def adorn(self, rows: list[Any]) -> None:
        for standing in told.look(rows):
            standing.commission.standing = standing  # type: ignore[attr-defined]

    @display(description=_("state"), label=COLOURS)  # type: ignore[untyped-decorator]
    def state(self, commission: Any) -> tuple[str, str]:
        return commission.standing.colour, commission.standing.state

    @admin.display(description=_("cost"))
    def price(self, commission: Commission) -> str:
        return money.shown(commission.cost) if commission.kept_at else ""

    @admin.display(description=_("time"))
    def lasted(self, commission: Commission) -> str:
        return told.lasted(commission)

    def describe(self, request: HttpRequest, commission: Commission) -> dict[str, Any]:
        [line] = commission_lines(request, [commission])
        brought = Version.objects.filter(process_id=commission.pk).exists()
        query = {"process": str(commission.pk)}
        link = link_to(Version, query) if brought and may_see(request, Version) else ""
        return {"line": line, "brought_link": link}


def commission_lines(
    request: HttpRequest, rows: Sequence[Commission], *, on: Any = None
) -> list[dict[str, Any]]:
    """Commissions for a template, each with links to the pages that this user may open.

    `on` is the model whose page shows them, and needs no link to itself.
    """
    return [
        {
            "commission": each.commission,
            "state": each.state,
            "colour": each.colour,
            "facts": each.facts,
            "links": _links(request, each, on),
        }
        for each in told.look(rows)
    ]


def _links(request: HttpRequest, standing: told.Standing, on: Any) -> list[dict[str, str]]:
    commission = standing.commission
    rows: list[Any] = [Process(pk=commission.pk, label="")]  # its page may be gone: not its link
    if commission.plan_id:
        rows.append(Guide(plan_id=commission.plan_id))
    if standing.keeper:
        rows.append(standing.keeper)
    return [
        {"kind": str(row._meta.verbose_name), "link": page_of(row)}
        for row in rows
        if type(row) is not on and may_see(request, type(row))
    ]
