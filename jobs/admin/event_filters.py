"""Filters of events, each within an index or among the newest few."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from jobs.console.counting import MANY
from jobs.events import handlers

Choices = list[tuple[str, Any]]


class ProcessedFilter(admin.SimpleListFilter):
    """Events that wait, oldest first; or those that are done, the last ones first."""

    title = _("processed")
    parameter_name = "processed"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return [("no", _("not processed yet")), ("yes", _("processed"))]

    def queryset(self, request: HttpRequest, events: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == "no":
            return events.filter(processed_at=None)
        return events.exclude(processed_at=None) if self.value() == "yes" else events

    @staticmethod
    def order(value: str | None) -> tuple[str, ...]:
        """As an index has them: ids are ordered by time, event_processed by both moments."""
        orders = {"no": ("created_at",), "yes": ("-processed_at", "-created_at")}
        return orders.get(value or "", ("-id",))


class EventKindFilter(admin.SimpleListFilter):
    """Events of a kind that the code knows, among the first 10,000 of the list."""

    title = _("kind")
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return [(kind, kind) for kind in handlers.kinds()]

    def queryset(self, request: HttpRequest, events: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() is None:
            return events
        order = ProcessedFilter.order(request.GET.get(ProcessedFilter.parameter_name))
        few = events.order_by(*order).values("pk")[:MANY]
        return events.filter(pk__in=few, kind=self.value())
