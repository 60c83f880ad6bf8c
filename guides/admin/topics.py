"""Summaries of topics: read, corrected, and asked for anew."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.http import HttpRequest
from django.utils.text import Truncator
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminTextareaWidget

from guides import validators
from guides.derived.models import Version
from guides.topics import asking, keeping, summaries, tags
from guides.topics.models import KeepTopic, RefreshTopic, TopicSummary
from jobs.admin import JobAdmin
from jobs.admin.asking import AskingAdmin, Question
from jobs.console import audit, shown
from jobs.paid import money

REFRESH = "refresh"
MOST_VERSIONS = 20

admin.site.register(RefreshTopic, JobAdmin)
admin.site.register(KeepTopic, JobAdmin)


class SummaryForm(forms.ModelForm):
    class Meta:
        model = TopicSummary
        fields = ["text"]
        widgets = {"text": UnfoldAdminTextareaWidget(attrs={"rows": 6})}

    def clean_text(self) -> str:
        text: str = self.cleaned_data["text"].replace("\r\n", "\n").strip()
        validators.check_text(text, keeping.LONGEST, lines=True)
        return text


@admin.register(TopicSummary)
class TopicSummaryAdmin(AskingAdmin):
    form = SummaryForm
    list_display = ["tag", "language", "beginning", "maker", "changed"]
    ordering = ["-updated_at", "-id"]
    search_fields = ["tag"]  # only to show the search box
    search_help_text = _("whole name of a topic")
    change_form_template = "admin/guides/topic.html"
    question_names = (REFRESH,)
    fieldsets = [(_("correct"), {"fields": ["text"]})]

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.may(request, "change")

    def get_search_results(
        self, request: HttpRequest, queryset: Any, search_term: str
    ) -> tuple[Any, bool]:
        topic = tags.topic_of(search_term.strip().replace("\x00", ""))
        return (queryset.filter(tag=topic) if topic else queryset), False

    @admin.display(description=_("text"))
    def beginning(self, summary: TopicSummary) -> str:
        return Truncator(summary.text).chars(80) or gettext("none yet")

    @admin.display(description=_("written by"))
    def maker(self, summary: TopicSummary) -> str:
        if not summary.text:
            return ""
        return gettext("a person") if summary.corrected_at else gettext("a model")

    @admin.display(description=_("changed"))
    def changed(self, summary: TopicSummary) -> str:
        return shown.moment(summary.updated_at)

    def describe(self, request: HttpRequest, summary: TopicSummary) -> dict[str, Any]:
        versions = Version.objects.filter(unit=summary.unit).order_by("-version")
        return {
            "summary": summary,
            "maker": self.maker(summary),
            "page": tags.address(summary.tag),
            "versions": versions[:MOST_VERSIONS],
            "buttons": self.buttons(request, summary),
            "log": audit.about(summary)[:20],
        }

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if "text" in form.changed_data:
            summaries.correct(obj, obj.text, by=request.user)

    def questions(self, request: HttpRequest, summary: TopicSummary) -> list[Question]:
        return [Question(REFRESH, _("Refresh now"), self.effects)]

    def effects(self) -> list[str]:
        price = asking.price()
        if price.is_free:
            cost = gettext("It costs nothing.")
        elif price.amount is None:
            cost = gettext("What it costs is not known: its provider has no price.")
        else:
            cost = gettext("It costs at most about %s.") % money.shown(price.amount)
        return [
            cost,
            gettext("New texts are asked for in every language of the site."),
            gettext("They replace the texts shown, also corrected ones; those stay as versions."),
        ]

    @transaction.atomic
    def carry_out(self, request: HttpRequest, summary: TopicSummary, name: str) -> None:
        try:
            asked = asking.ask_now(summary.tag, by=request.user)
        except asking.UnderWay:
            text = gettext("Nothing was changed: %s is being summed up already.") % summary.tag
            self.message_user(request, text, messages.WARNING)
            return
        if asked:
            audit.note(request.user, [summary], gettext_noop("Asked for a new text."))
            text = gettext("New texts are on their way; the old ones stay until then.")
            self.message_user(request, text, messages.SUCCESS)
        else:
            text = gettext("Nothing was asked for: no published guide has this topic.")
            self.message_user(request, text, messages.WARNING)
