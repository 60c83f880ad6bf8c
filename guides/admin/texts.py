"""Every version of a derived text: what it says, what differs, who made it; one can be put back."""

from collections.abc import Mapping
from typing import Any

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import Q
from django.http import HttpRequest
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from guides import languages
from guides.derived import differences, versions
from guides.derived.models import Commission, Version
from guides.derived.versions import CantPutBack
from jobs import queue
from jobs.admin.asking import AskingAdmin, Question
from jobs.admin.base import as_uuid, link_to, may_see, page_of
from jobs.admin.filters import refuse_nul
from jobs.console import audit, causes
from jobs.console.sentences import sentence
from jobs.models import Call, Process

PUT_BACK = "put_back"
SHOWN_AGAIN = sentence(gettext_noop("Shows version %s again."))
BEGINNING = 80  # letters of a text in the list


def versions_link(unit: str) -> str:
    """The list of a unit's versions, for the admin pages of slices."""
    return link_to(Version, {UnitFilter.parameter_name: unit})


class KindFilter(admin.SimpleListFilter):
    title = _("kind")
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [(kind, kind) for kind in versions.KINDS]

    def queryset(self, request: HttpRequest, rows: Any) -> Any:
        return rows if self.value() is None else rows.filter(kind=self.value())


class UnitFilter(admin.SimpleListFilter):
    """The versions of one unit, which other pages link to."""

    title = _("unit")
    parameter_name = "unit"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        chosen = request.GET.get(self.parameter_name, "")
        return [(chosen, causes.beginning(chosen, 60))] if chosen else []

    def queryset(self, request: HttpRequest, rows: Any) -> Any:
        return rows if self.value() is None else rows.filter(unit=self.value())


class BroughtFilter(UnitFilter):
    """What one process brought."""

    title = _("process")
    parameter_name = "process"

    def queryset(self, request: HttpRequest, rows: Any) -> Any:
        if self.value() is None:
            return rows
        id = as_uuid(self.value() or "")
        return rows.filter(process_id=id) if id else rows.none()


@admin.register(Version)
class VersionAdmin(AskingAdmin):
    list_display = ["unit", "version", "content", "made_by", "created_at"]
    list_filter = [KindFilter, UnitFilter, BroughtFilter]
    ordering = ["-id"]  # ids are ordered by time
    search_fields = ["unit"]  # only to show the search box
    search_help_text = _("unit, plan id, tag or week, or the beginning of one")
    change_form_template = "admin/guides/version.html"
    question_names = (PUT_BACK,)

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        refuse_nul(request)
        return super().changelist_view(request, extra_context)

    def get_search_results(
        self, request: HttpRequest, queryset: Any, search_term: str
    ) -> tuple[Any, bool]:
        term = search_term.strip().replace("\x00", "")
        return (queryset.filter(begins_with(term)) if term else queryset), False

    @admin.display(description=_("content"))
    def content(self, version: Version) -> str:
        texts = differences.contents(version.payload).values()
        return causes.beginning(" · ".join(filter(None, texts)), BEGINNING)

    # The page of one version

    def describe(self, request: HttpRequest, version: Version) -> dict[str, Any]:
        siblings = Version.objects.filter(unit=version.unit)
        previous = siblings.filter(version__lt=version.version).order_by("-version").first()
        following = siblings.filter(version__gt=version.version).order_by("version").first()
        latest = versions.latest(version.unit)
        return {
            "version": version,
            "previous_link": page_of(previous) if previous else "",
            "next_link": page_of(following) if following else "",
            "all_link": versions_link(version.unit),
            "is_latest": latest == version,
            "is_shown": versions.is_shown(version),
            "can_be_put_back": versions.can_be_put_back(version),
            "contents": differences.contents(version.payload),
            "comparisons": comparisons(version, previous, latest),
            "links": links(request, version),
            "buttons": self.buttons(request, version),
            "log": audit.about(version)[:20],
        }

    # What people ask for

    def questions(self, request: HttpRequest, version: Version) -> list[Question]:
        if not versions.can_be_put_back(version) or versions.is_shown(version):
            return []
        return [Question(PUT_BACK, _("Put back"), lambda: self.effects(version))]

    def effects(self, version: Version) -> list[str]:
        lines = [gettext("Pages show this content again, as a new version.")]
        if versions.shown(version.unit) is not None:
            lines.append(gettext("What is shown now stays among the versions."))
        return lines

    @queue.repeated
    def carry_out(self, request: HttpRequest, version: Version, name: str) -> None:
        try:
            with transaction.atomic():
                new = versions.put_back(version, by=request.user)
                audit.note(request.user, [version], SHOWN_AGAIN % version.version)
        except CantPutBack as error:
            self.message_user(request, str(error), messages.WARNING)
            return
        text = gettext("%(unit)s shows version %(version)s again.")
        text %= {"unit": version.unit, "version": version.version}
        if new:
            text += " " + gettext("Its new number is %s.") % new.version
        self.message_user(request, text, messages.SUCCESS)


def begins_with(term: str) -> Q:
    """Units that begin with this term, after their kind and language if it names none.

    Each of these is a range of the index version_unit_begins.
    """
    if ":" in term:
        return Q(unit__startswith=term)
    kinds = [f"{kind}:" for kind in versions.KINDS]
    starts = ["", *kinds, *(f"{kind}{code}:" for kind in kinds for code in languages.codes())]
    wanted = Q()
    for start in starts:
        wanted |= Q(unit__startswith=f"{start}{term}")
    return wanted


def comparisons(
    version: Version, previous: Version | None, latest: Version | None
) -> list[dict[str, Any]]:
    """What this version changed, and how what came later or is shown now differs from it."""
    found = []
    if previous:
        title = gettext("What it changed since version %s") % previous.version
        found.append(_comparison(title, previous.payload, version.payload))
    if latest and latest != version:
        title = gettext("How the latest version, %s, differs from it") % latest.version
        found.append(_comparison(title, version.payload, latest.payload))
    content = versions.shown(version.unit)
    if content is not None and latest and versions.payload_hash(content) != latest.payload_hash:
        title = gettext("How what pages show now differs from it")
        found.append(_comparison(title, version.payload, content))
    return found


def _comparison(title: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    parts = differences.compare(before, after)
    return {"title": title, "parts": [part for part in parts if not part.is_same]}


def links(request: HttpRequest, version: Version) -> list[dict[str, str]]:
    """Where it came from, as far as that still exists and this user may open it."""
    models: list[Any] = [Commission, Process] if version.process_id else []
    rows = [
        row
        for model in models
        if may_see(request, model)
        for row in model.objects.filter(pk=version.process_id)
    ]
    found = [{"text": str(row._meta.verbose_name), "link": page_of(row)} for row in rows]
    if version.job_id and may_see(request, Call):
        found.append({"text": gettext("calls"), "link": link_to(Call, {"q": str(version.job_id)})})
    return found
