"""Translations of a guide: how far they are, asking for them, and all of them side by side."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.admin.utils import quote, unquote
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import get_language_info, gettext, gettext_noop, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_safe

from guides.derived.models import Commission
from guides.models import Guide
from guides.translation import asking, sheets
from guides.translation.models import KeepTranslations, State
from guides.translation.sheets import Sheet, Stand
from jobs import queue
from jobs.admin import live
from jobs.admin.base import page_of
from jobs.console import audit
from jobs.console.sentences import sentence
from jobs.llm.models import LLMJob
from jobs.models import Process

ASKED = sentence(gettext_noop("Asked for %(texts)s texts in %(language)s."))
STANDS = {
    Stand.CURRENT: _("up to date"),
    Stand.ASKED: _("under way"),
    Stand.FAILED: _("failed"),
    Stand.OUTDATED: _("outdated"),
    Stand.MISSING: _("missing"),
}


class Translating:
    """The part of a guide's admin that is about its other languages."""

    def get_urls(self) -> list[URLPattern]:
        """Before the admin's own addresses, the last of which takes everything."""
        site = self.admin_site  # type: ignore[attr-defined]
        ask = site.admin_view(require_http_methods(["GET", "HEAD", "POST"])(self.translate))
        look = site.admin_view(require_safe(self.translations))
        return [
            path("<path:object_id>/translate/<str:code>/", ask, name="guides_guide_translate"),
            path(
                "<path:object_id>/translations/<str:code>/", look, name="guides_guide_translations"
            ),
            *super().get_urls(),  # type: ignore[misc]
        ]

    def describe(self, request: HttpRequest, guide: Guide) -> dict[str, Any]:
        found = sheets.of_guide(guide, guide.spots.all())
        others = [sheet for sheet in found.values() if not sheet.is_original]
        return {
            "translations": [described(guide, sheet) for sheet in others],
            "written_in": get_language_info(guide.spoken)["name_translated"],
            "may_translate": request.user.has_perm("guides.change_guide"),
        }

    def translate(self, request: HttpRequest, object_id: str, code: str) -> HttpResponse:
        """Show the number of texts and the cost first; a POST then asks for them."""
        guide, sheet = self.sheet_or_refuse(request, object_id, code, "change")
        if request.method == "POST":
            self.ask(request, guide, sheet)
            return HttpResponseRedirect(page_of(guide))
        wanted = [line.source for line in asking.lacking(sheet, is_person=True)]
        context = {
            **self.admin_site.each_context(request),  # type: ignore[attr-defined]
            "title": _("Translate"),
            "opts": self.opts,  # type: ignore[attr-defined]
            "guide": guide,
            "language": name_of(sheet),
            "number": len(wanted),
            "sheet": sheet,
            "price": asking.price(wanted),
            "provider": LLMJob.provider_name(),
            "back": page_of(guide),
        }
        return TemplateResponse(request, "admin/guides/translate.html", context)

    @queue.repeated
    def ask(self, request: HttpRequest, guide: Guide, sheet: Sheet) -> None:
        with transaction.atomic():
            asked = asking.ask(guide.pk, sheet.language, by=request.user)
            if asked:
                told = {"texts": asked, "language": sheet.language}
                audit.note(request.user, [guide], ASKED % told)
        if asked:
            text = ngettext(
                "%(texts)s text is on its way in %(language)s.",
                "%(texts)s texts are on their way in %(language)s.",
                asked,
            )
            text %= {"texts": asked, "language": name_of(sheet)}
            self.message_user(request, text, messages.SUCCESS)  # type: ignore[attr-defined]
        else:
            text = gettext("Nothing was asked for: every text is up to date or under way.")
            if guide.withdrawn_at:
                text = gettext("Nothing was asked for: the guide is withdrawn.")
            self.message_user(request, text, messages.WARNING)  # type: ignore[attr-defined]

    def translations(self, request: HttpRequest, object_id: str, code: str) -> HttpResponse:
        """All texts of the guide beside their translations."""
        guide, sheet = self.sheet_or_refuse(request, object_id, code, "view")
        may_correct = request.user.has_perm("guides.change_guide")
        context = {
            **self.admin_site.each_context(request),  # type: ignore[attr-defined]
            "title": f"{guide} · {name_of(sheet)}",
            "opts": self.opts,  # type: ignore[attr-defined]
            "guide": guide,
            "sheet": sheet,
            "lines": [
                {
                    "line": line,
                    "stand": line.stand,
                    "words": STANDS[line.stand],
                    "correct": page_of(line.row) if line.row and may_correct else "",
                }
                for line in sheet.lines
            ],
            "back": page_of(guide),
        }
        response = TemplateResponse(request, "admin/guides/translation_texts.html", context)
        page: HttpResponse = live.answer(request, response)
        return page

    def sheet_or_refuse(
        self, request: HttpRequest, object_id: str, code: str, what: str
    ) -> tuple[Guide, Sheet]:
        may = [what] if what == "change" else [what, "change"]
        if not any(request.user.has_perm(f"guides.{each}_guide") for each in may):
            raise PermissionDenied
        guide = self.get_object(request, unquote(object_id))  # type: ignore[attr-defined]
        found = sheets.of_guide(guide, guide.spots.all()) if guide else {}
        if code not in found or found[code].is_original:
            raise Http404
        return guide, found[code]


def described(guide: Guide, sheet: Sheet) -> dict[str, Any]:
    """What the guide's page tells of one language."""
    process_ids = {
        line.row.process_id
        for line in sheet.lines
        if line.row and line.row.state == State.ASKED and line.row.process_id
    }
    return {
        "sheet": sheet,
        "name": name_of(sheet),
        "asked": sheet.counts[Stand.ASKED],
        "failed": sheet.counts[Stand.FAILED],
        "outdated": sheet.counts[Stand.OUTDATED],
        "lacking": len(asking.lacking(sheet, is_person=True)),
        "processes": progress_of(process_ids),
        "last": last_commission(guide, sheet),
        "ask": address("translate", guide, sheet),
        "look": address("translations", guide, sheet),
        "page": f"{guide.get_absolute_url()}?lang={sheet.language}",
    }


def progress_of(process_ids: set[UUID]) -> list[Process]:
    return list(Process.objects.filter(pk__in=process_ids).order_by("pk")) if process_ids else []


def last_commission(guide: Guide, sheet: Sheet) -> Commission | None:
    """The last one of this language that was kept: who wrote it, and what it cost."""
    rows = (line.row for line in sheet.lines)
    ids = {row.process_id for row in rows if row and row.process_id}
    kept = Commission.objects.filter(
        pk__in=ids, slice=KeepTranslations.slice, plan_id=guide.pk, kept_at__isnull=False
    )
    return kept.order_by("-created_at").first() if ids else None


def address(page: str, guide: Guide, sheet: Sheet) -> str:
    return reverse(f"admin:guides_guide_{page}", args=[quote(guide.pk), sheet.language])


def name_of(sheet: Sheet) -> str:
    return str(get_language_info(sheet.language)["name_translated"])
