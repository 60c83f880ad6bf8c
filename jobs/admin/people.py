"""What people did: every entry of Django's log, whatever became of the rows it is about."""

from datetime import datetime
from typing import Any

from django.contrib import admin
from django.contrib.admin.models import ACTION_FLAG_CHOICES, LogEntry
from django.contrib.auth import get_user_model
from django.contrib.contenttypes.models import ContentType
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from jobs.admin.base import AdornedChangeList, ReadOnlyAdmin, Rows, list_of, may_see, page_of
from jobs.admin.filters import DayFilter, refuse_nul
from jobs.console import figures, people, shown

Choices = list[tuple[str, Any]]
TITLE = _("What people did")
DAYS = ("action_time_from", "action_time_to")


class LogDayFilter(DayFilter):
    """Days of actions, found by the entries' ids."""

    def between(self, rows: Rows, first: datetime | None, end: datetime | None) -> Rows:
        return people.within(rows, first, end)


class LogFilter(admin.SimpleListFilter):
    """A filter of one column; alone it uses an index.

    After one of the filters `later_than`, it looks at the newest 10,000 entries of that one.
    """

    column = ""
    later_than: tuple[str, ...] = ()

    def queryset(self, request: HttpRequest, rows: Rows) -> Rows:
        if self.value() is None:
            return rows
        if not self.later_than or any(request.GET.get(name) for name in self.later_than):
            rows = people.newest(rows)
        key = self.key(self.value() or "")
        return rows.none() if key is None else rows.filter(**{self.column: key})

    def key(self, text: str) -> Any:
        return as_number(text)


class PersonFilter(LogFilter):
    title = _("person")
    parameter_name = "person"
    column = "user_id"
    later_than = DAYS

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        """The first of those who may have acted, and the one that a link names.

        Locked are the command line, people who have left, and those that a program deleted.
        """
        model: Any = get_user_model()
        known = model._default_manager.order_by(model.USERNAME_FIELD)
        if {"is_staff", "is_active"} <= {field.name for field in model._meta.fields}:
            known = known.filter(Q(is_staff=True) | Q(is_active=False))
        users = list(known[: figures.MOST_ROWS])
        chosen = self.key(request.GET.get(self.parameter_name, ""))
        if chosen is not None and chosen not in {user.pk for user in users}:
            users += model._default_manager.filter(pk=chosen)
        return [(str(user.pk), user.get_username()) for user in users]

    def key(self, text: str) -> Any:
        """A project's own users may have another kind of id."""
        return people.key_of(get_user_model(), text)


class KindFilter(LogFilter):
    title = _("kind")
    parameter_name = "kind"
    column = "content_type_id"
    later_than = (*DAYS, "person")

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        """The kinds that have pages which this user may open."""
        models = [model for model in admin.site._registry if may_see(request, model)]
        types = ContentType.objects.get_for_models(*models)
        named = [(str(found.pk), name_of(model)) for model, found in types.items()]
        return sorted(named, key=lambda choice: choice[1])


class ActionFilter(LogFilter):
    """No index helps it, so it is never alone: see `later_than`."""

    title = _("action")
    parameter_name = "action_flag"
    column = "action_flag"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return [(str(flag), label) for flag, label in ACTION_FLAG_CHOICES]


class LinkedChangeList(AdornedChangeList):
    """Links to the rows that are still there and that this user may open."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        entries: list[Any] = self.result_list
        may_open = {model for model in admin.site._registry if may_see(request, model)}
        rows = people.existing(entries, may_open.__contains__)
        for entry in entries:
            entry.link = page_of(rows[entry.pk]) if entry.pk in rows else ""
            model = people.model_of(entry)
            if not entry.object_id and model in may_open:
                entry.link = list_of(model)


@admin.register(LogEntry)
class LogEntryAdmin(ReadOnlyAdmin):
    list_display = ["time", "person", "did", "subject", "kind"]
    list_display_links = None
    # Days first: the others look at the newest 10,000 entries of those days.
    list_filter = [("action_time", LogDayFilter), PersonFilter, KindFilter, ActionFilter]
    list_select_related = ["user"]
    ordering = ["-id"]
    search_fields = ["change_message"]  # only to show the search box
    search_help_text = _("words or a name, among the newest 10,000")
    list_before_template = "admin/jobs/people.html"

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[AdornedChangeList]:
        return LinkedChangeList

    def get_queryset(self, request: HttpRequest) -> Rows:
        """Without what was done to things that this user may not open."""
        hidden = [model for model in admin.site._registry if not may_see(request, model)]
        types = ContentType.objects.get_for_models(*hidden).values()
        entries: Rows = super().get_queryset(request)
        return entries.exclude(content_type_id__in=[found.pk for found in types])

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        refuse_nul(request)
        context = {"title": TITLE, **(extra_context or {})}
        response: HttpResponse = super().changelist_view(request, context)
        return response

    def get_search_results(
        self, request: HttpRequest, queryset: Rows, search_term: str
    ) -> tuple[Rows, bool]:
        term = search_term.strip().replace("\x00", "")
        if not term:
            return queryset, False
        return people.newest(queryset).filter(people.about_words(term)), False

    # What the list shows

    @admin.display(description=_("time"))
    def time(self, entry: LogEntry) -> str:
        return shown.moment(entry.action_time)

    @admin.display(description=_("person"))
    def person(self, entry: LogEntry) -> str:
        return str(entry.user)

    @admin.display(description=_("action"))
    def did(self, entry: LogEntry) -> str:
        return people.told(entry)

    @admin.display(description=_("to what"))
    def subject(self, entry: Any) -> str:
        """As it was called then; a link if it is still there."""
        if entry.link:
            return format_html('<a href="{}">{}</a>', entry.link, entry.object_repr)
        return str(entry.object_repr)

    @admin.display(description=_("kind"))
    def kind(self, entry: LogEntry) -> str:
        model = people.model_of(entry)
        return name_of(model) if model else ""


def as_number(text: str) -> int:
    """The id in a URL; 0, which no row has, for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def name_of(model: Any) -> str:
    return capfirst(str(model._meta.verbose_name))
