"""The texts of a guide that a model wrote: whose they are now, and asking for them again."""

from typing import Any

from django.contrib import messages
from django.contrib.admin.utils import quote, unquote
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext, gettext_noop, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods

from guides.models import Guide, SpotDetail
from guides.writing import again, texts
from guides.writing.models import Manuscript, PlannedSpot, SpotState
from jobs import queue
from jobs.admin.base import GuardedAdmin, page_of
from jobs.console import audit
from jobs.console.sentences import sentence, told
from jobs.llm.models import LLMJob
from jobs.paid import money

NAME = "guides_guide_write_again"
ASKED = sentence(gettext_noop("Asked again for texts: %s."))
SHORT = 60  # letters of a paragraph, to know it by


class WritingMixin(GuardedAdmin):
    """Adds the section about its texts to the page of a guide, and the page that asks again."""

    def get_urls(self) -> list[URLPattern]:
        view = require_http_methods(["GET", "POST"])(self.write_again)
        wrapped = self.admin_site.admin_view(view)
        return [path("<path:object_id>/write-again/", wrapped, name=NAME), *super().get_urls()]

    def describe_writing(self, request: HttpRequest, guide: Guide) -> dict[str, Any]:
        """The context of templates/admin/guides/writing.html."""
        manuscript = Manuscript.objects.filter(guide=guide).first()
        spots = list(guide.spots.all())
        known = texts.written([guide, *spots])
        if manuscript is None and not known:
            return {}
        may_ask = request.user.has_perm("guides.change_guide") and manuscript is not None
        is_closed = manuscript is not None and not manuscript.is_open
        return {
            "manuscript": manuscript,
            "error": told(manuscript.error) if manuscript else "",
            "parts": [part_of(guide, known), *(part_of(spot, known) for spot in spots)],
            "lost": list(manuscript.planned.filter(state=SpotState.FAILED)) if manuscript else [],
            "again": address_of(guide) if may_ask and is_closed and not guide.withdrawn_at else "",
        }

    @queue.repeated
    def write_again(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show the price first; a POST then asks."""
        guide = self.get_object(request, unquote(object_id))
        if not request.user.has_perm("guides.change_guide"):
            raise PermissionDenied
        if guide is None:
            raise Http404
        what = request.GET.get("what", "")[:100]
        try:
            if request.method == "POST":
                self.write_anew(request, guide, what)
            else:
                return self.show_order(request, guide, what)
        except again.Refused as refused:
            self.message_user(request, str(refused), messages.WARNING)
        return HttpResponseRedirect(page_of(guide))

    def show_order(self, request: HttpRequest, guide: Guide, what: str) -> HttpResponse:
        manuscript = Manuscript.objects.filter(guide=guide).first()
        if manuscript is None:
            raise again.Refused(gettext("No model has written this guide."))
        manuscript.guide = guide
        order = again.plan_again(manuscript, what)
        context = {
            **self.admin_site.each_context(request),
            "title": _("Write it again"),
            "opts": self.opts,
            "guide": guide,
            "subject": subject_of(guide, what),
            "number": len(order.asked),
            "is_outline": not order.targets,
            "left_alone": order.left_alone,
            "price": order.price,
            "shown_price": money.shown(order.price.amount or 0),
            "provider": LLMJob.provider_name(),
            "back": page_of(guide),
        }
        return TemplateResponse(request, "admin/guides/write_again.html", context)

    def write_anew(self, request: HttpRequest, guide: Guide, what: str) -> None:
        with transaction.atomic():
            order = again.ask_again(guide.pk, what, by=request.user)
            audit.note(request.user, [guide], ASKED % len(order.asked))
        number = len(order.asked)
        text = ngettext("%s text was asked for again.", "%s texts were asked for again.", number)
        self.message_user(request, text % number, messages.SUCCESS)
        if order.left_alone:
            text = gettext("Left alone, because a person has edited them: %s.") % order.left_alone
            self.message_user(request, text, messages.WARNING)


def address_of(guide: Guide) -> str:
    return reverse(f"admin:{NAME}", args=[quote(guide.pk)])


def part_of(row: Guide | SpotDetail, known: Any) -> dict[str, Any]:
    """A text, who wrote it, and what can be asked for again."""
    is_guide = isinstance(row, Guide)
    text = row.summary if isinstance(row, Guide) else row.description
    kind = "summary" if is_guide else f"paragraph:{row.pk}"
    return {
        "name": gettext("Title and summary") if is_guide else row.spot_name,  # type: ignore[union-attr]
        "mark": texts.mark(row, known),
        "what": "" if is_guide else f"spot:{row.pk}",
        "paragraphs": [
            {"start": each[:SHORT], "what": f"{kind}:{n}"}
            for n, each in enumerate(texts.paragraphs(text))
        ],
    }


def subject_of(guide: Guide, what: str) -> str:
    """What is asked for, in words; plan_again has checked that it is there."""
    kind, _colon, rest = what.partition(":")
    if kind in ("spot", "paragraph"):
        spot = guide.spots.get(pk=rest.partition(":")[0])
        return spot.spot_name
    if kind == "planned":
        return PlannedSpot.objects.get(manuscript__guide=guide, pk=rest).name
    return str(guide)
