"""Alerts: what needed a person, since when, until when, and how that was told."""

from collections import defaultdict
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from jobs.admin.base import ReadOnlyAdmin, list_of, page_of
from jobs.admin.skin import display
from jobs.alerts import looking, ways
from jobs.alerts.messages import TEST, TESTED, AlertMessage, send_test
from jobs.alerts.ways import Way
from jobs.console import audit, shown
from jobs.db import clock
from jobs.models import Alert

COLOURS = {"open": "danger", "unknown": "warning", "over": "success", "test": "plain"}
LABELS = {"open": _("needs a person"), "over": _("over"), "test": _("test")}


@admin.register(Alert)
class AlertAdmin(ReadOnlyAdmin):
    list_display = ["what", "state", "since", "until", "told", "place"]
    list_display_links = ["what"]
    list_before_template = "admin/jobs/alerts.html"
    ordering = ["-began_at"]

    def get_urls(self) -> list[URLPattern]:
        test = self.admin_site.admin_view(require_POST(self.test))
        return [path("test/", test, name="jobs_alert_test"), *super().get_urls()]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        destinations = [(Way(way).label, ways.destination(way)) for way in ways.configured()]
        above = {"destinations": destinations, "may_test": self.may(request, "change")}
        return super().changelist_view(request, {**above, **(extra_context or {})})

    def adorn(self, rows: list[Any]) -> None:
        sent: dict[Any, list[Any]] = defaultdict(list)
        found: Any = AlertMessage.objects.filter(alert__in=rows).order_by("id")
        for message in found:
            sent[message.alert_id].append(message)
        now = clock.now()
        for alert in rows:
            alert.is_current = looking.is_current(alert, now)
            alert.sent = sent[alert.pk]

    @admin.display(description=_("what needs a person"))
    def what(self, alert: Alert) -> str:
        return alert.text

    @display(description=_("state"), label=COLOURS)  # type: ignore[untyped-decorator]
    def state(self, alert: Any) -> tuple[str, str]:
        if not alert.is_current:
            return "unknown", gettext("last checked %s") % shown.moment(alert.seen_at)
        word = "open" if alert.ended_at is None else "test" if alert.kind == TEST else "over"
        return word, str(LABELS[word])

    @admin.display(description=_("since"))
    def since(self, alert: Alert) -> str:
        return shown.moment(alert.began_at)

    @admin.display(description=_("until"))
    def until(self, alert: Alert) -> str:
        return shown.moment(alert.ended_at)

    @admin.display(description=_("messages"))
    def told(self, alert: Any) -> str:
        lines = [(page_of(message), words_of(message)) for message in alert.sent]
        return format_html_join(" ", '<a class="tc-link" href="{}">{}</a>', lines) or gettext(
            "none"
        )

    @admin.display(description=_("list"))
    def place(self, alert: Alert) -> str:
        return format_html('<a href="{}">{}</a>', alert.path, _("Show")) if alert.path else ""

    # Test

    def test(self, request: HttpRequest) -> HttpResponse:
        """Send a message by every way, so that a person can see it arrive."""
        if not self.may(request, "change"):
            raise PermissionDenied
        if ways.configured():
            with transaction.atomic():
                audit.note(request.user, [send_test()], TESTED)
            text = gettext("A worker sends the test message. Its line below says how it went.")
            self.message_user(request, text, messages.SUCCESS)
        else:
            text = gettext("There is no address to tell: see ALERT_WEBHOOK_URL in docs/alerts.md.")
            self.message_user(request, text, messages.WARNING)
        return HttpResponseRedirect(list_of(Alert))


def words_of(message: AlertMessage) -> str:
    status = message.get_status_display()
    return f"{message.get_way_display()}, {message.get_event_display()}: {status}"
