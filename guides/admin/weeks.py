"""Weeks: what is said of them, corrected by people or asked for again."""

import json
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.http import urlencode
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminTextareaWidget

from guides import validators
from guides.derived.prices import Price
from guides.weeks import asking, keeping
from guides.weeks.jobs import KeepWeek, Wanted, WeeklySummary
from guides.weeks.models import WeekText
from guides.weeks.shown import is_week
from jobs.admin import JobAdmin
from jobs.admin.asking import AskingAdmin, Question
from jobs.console import audit
from jobs.llm.models import LLMJob
from jobs.paid import money

admin.site.register(WeeklySummary, JobAdmin)
admin.site.register(KeepWeek, JobAdmin)


class WeekForm(forms.ModelForm):
    """The words of a week, as plain text."""

    seen = forms.CharField(widget=forms.HiddenInput)
    text = forms.CharField(label=_("text"), widget=UnfoldAdminTextareaWidget(attrs={"rows": 5}))
    key_events = forms.CharField(
        label=_("worth a look"),
        required=False,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 5}),
        help_text=_("one per line"),
    )
    what_changed = forms.CharField(
        label=_("since the week before"),
        required=False,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}),
    )

    class Meta:
        model = WeekText
        fields: list[str] = []

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        data = self.instance.summary_json
        self.initial.update(
            seen=self.instance.updated_at.isoformat(),
            text=self.instance.summary_text,
            key_events="\n".join(keeping.events_of(data)),
            what_changed=keeping.change_of(data),
        )

    def clean(self) -> dict[str, Any]:
        words = self.cleaned_data
        for name, most in (
            ("text", keeping.LONGEST_TEXT),
            ("key_events", keeping.MOST_EVENTS * keeping.LONGEST_EVENT),
            ("what_changed", keeping.LONGEST_CHANGE),
        ):
            try:
                validators.check_text(words.get(name, ""), most, lines=True)
            except ValidationError as error:
                self.add_error(name, error)
        if words.get("seen") != self.initial["seen"]:
            raise ValidationError(
                _("This text was written anew while you had it open. Open the page again.")
            )
        return words

    def as_answer(self) -> dict[str, Any]:
        """What a person wrote, as a model would have answered."""
        words = self.cleaned_data
        return {
            "summary_text": words["text"],
            "key_events": [
                line.strip() for line in words["key_events"].splitlines() if line.strip()
            ],
            "what_changed": words["what_changed"],
        }


@admin.register(WeekText)
class WeekTextAdmin(AskingAdmin):
    form = WeekForm
    list_display = ["week_key", "language", "situation", "beginning", "updated_at"]
    list_display_links = ["week_key"]
    ordering = ["-week_key", "language"]
    change_form_template = "admin/guides/week.html"
    question_names = ("again",)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Corrections need a text: a week that waits for its first one has nothing to correct."""
        return self.may(request, "change") and (obj is None or bool(obj.summary_text))

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        if self.has_change_permission(request, obj):
            return ["seen", "text", "key_events", "what_changed"]
        return ["week_key", "language", "summary_text"]

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if form.has_changed() and not keeping.correct(obj, form.as_answer(), by=request.user):
            text = gettext("Nothing was changed: it was written anew at the same moment.")
            self.message_user(request, text, messages.WARNING)

    @admin.display(description=_("state"))
    def situation(self, row: WeekText) -> str:
        if row.is_awaited:
            return gettext("on its way")
        if not row.summary_text:
            return gettext("no text")
        return gettext("corrected by a person") if row.edited_at else gettext("written")

    @admin.display(description=_("text"))
    def beginning(self, row: WeekText) -> str:
        return row.summary_text[:100]

    def describe(self, request: HttpRequest, row: WeekText) -> dict[str, Any]:
        return {
            "text": row,
            "situation": self.situation(row),
            "answer": json.dumps(row.summary_json, ensure_ascii=False, indent=2)[:20_000],
            "buttons": self.buttons(request, row),
            "versions": versions_link(row),
            "log": audit.about(row)[:20],
        }

    def questions(self, request: HttpRequest, row: Any) -> list[Question]:
        if not is_week(row.week_key):
            return []
        return [Question("again", _("Sum up again"), lambda: effects_of(row))]

    def carry_out(self, request: HttpRequest, row: Any, name: str) -> None:
        with transaction.atomic():
            is_new = asking.weekly_summary(row.week_key, wanted=Wanted.ALL, by=request.user)
            if is_new:
                audit.note(request.user, [row], gettext_noop("Asked to sum up the week again."))
        if is_new:
            text = gettext("%s is being summed up again; the old text stays until then.")
            self.message_user(request, text % row.week_key, messages.SUCCESS)
        else:
            text = gettext("Nothing was changed: %s is being summed up already.")
            self.message_user(request, text % row.week_key, messages.WARNING)


def effects_of(row: WeekText) -> list[str]:
    price = asking.price_of(row.week)
    if price is None:
        return [gettext("The week has no published guides, so nothing will be asked.")]
    return [
        gettext(
            "Its text is asked for in every language of the site, also if nothing has changed."
        ),
        in_words(price),
        gettext("The old text stays until the new one is there, and can be put back."),
        gettext("What a person corrected stays, unless the guides of the week have changed."),
    ]


def in_words(price: Price) -> str:
    if price.is_free:
        return gettext("It costs nothing.")
    if price.amount is None:
        name = LLMJob.provider_name()
        text = gettext("The price of %(provider)s is not set, so the cost is unknown.")
        return text % {"provider": name}
    return gettext("It costs at most about %s.") % money.shown(price.amount)


def versions_link(row: WeekText) -> str:
    """The versions of this text, where the console has a page of them."""
    try:
        page = reverse("admin:guides_version_changelist")
    except NoReverseMatch:
        return ""
    return f"{page}?{urlencode({'q': row.unit})}"
