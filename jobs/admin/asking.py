"""Actions that ask first: a page that tells the effect, then a POST that carries it out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from jobs.admin.base import ReadOnlyAdmin


@dataclass(frozen=True)
class Question:
    """What a person may ask for: its title, and what it will do to this row.

    The effects are found out when a person asks, not for each button on a page.
    """

    name: str
    title: Any
    effects: Callable[[], Sequence[str]] = tuple
    asks: bool = True  # False: harmless, so its button acts at once


class AskingAdmin(ReadOnlyAdmin):
    """Buttons on the page of a row. A subclass says what they are, and carries them out."""

    question_names: tuple[str, ...] = ()

    def questions(self, request: HttpRequest, row: Any) -> list[Question]:
        """The actions that fit this row now, for a user who may act."""
        return []

    def carry_out(self, request: HttpRequest, row: Any, name: str) -> None:
        raise NotImplementedError

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(require_http_methods(["GET", "POST"])(self.ask_about))
        name = f"{self.opts.app_label}_{self.opts.model_name}_ask"
        return [path("<path:object_id>/ask/<str:name>/", view, name=name), *super().get_urls()]

    def ask_about(self, request: HttpRequest, object_id: str, name: str) -> HttpResponse:
        """A GET tells the effect, a POST acts; both need the permission to change the row."""
        row = self.object_or_refuse(request, object_id, "change")
        offered = {each.name: each for each in self.questions(request, row)}
        if name not in self.question_names:
            raise Http404
        if name not in offered:
            text = gettext("Nothing was changed: it is no longer in the state for this.")
            self.message_user(request, text, messages.WARNING)
            return HttpResponseRedirect(self.page_of(row))
        question = offered[name]
        if request.method == "POST":
            self.carry_out(request, row, name)
            return HttpResponseRedirect(self.page_of(row))
        context = {
            **self.page_context(request, question.title),
            "row": row,
            "question": question,
            "back": self.page_of(row),
        }
        return TemplateResponse(request, "admin/jobs/ask.html", context)

    def buttons(self, request: HttpRequest, row: Any) -> list[dict[str, Any]]:
        """For the page's template: forms of what acts at once, links of what asks first."""
        if not self.may(request, "change"):
            return []
        name = f"admin:{self.opts.app_label}_{self.opts.model_name}_ask"
        return [
            {"question": each, "link": reverse(name, args=[row.pk, each.name])}
            for each in self.questions(request, row)
        ]
