"""Providers: their limits, their money, and the switch that holds for the whole fleet."""

from datetime import datetime
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from jobs import settings
from jobs.admin.base import ReadOnlyAdmin, Rows
from jobs.admin.skin import display
from jobs.console import audit, batches, counting, figures, needs, providers, sentences
from jobs.models import Call, Provider
from jobs.models.provider import Strategy
from jobs.paid import money, pausing
from jobs.paid.clients import services

LIMITS = ("requests_per_minute", "burst", "max_running", "timeout")
MONEY = ("price", "input_price", "output_price", "batch_percent", "daily_budget")
STRATEGY = "strategy"
COLOURS = {colour: colour for colour in ("success", "info", "warning", "danger", "plain")}


class PauseForm(forms.Form):
    """The reason and the end of a pause; without an end it lasts until a person resumes it."""

    reason = forms.CharField(required=False, max_length=500)
    until = forms.DateTimeField(required=False)

    def clean_until(self) -> datetime | None:
        until: datetime | None = self.cleaned_data["until"]
        if until and until <= timezone.now():
            raise forms.ValidationError(gettext("The end of the pause is in the past."))
        return until


@admin.register(Provider)
class ProviderAdmin(ReadOnlyAdmin):
    list_display = ["name", "state", "rate", "running", "faults", "spent_today", "left_today"]
    search_fields = ["name__exact"]
    change_form_template = "admin/jobs/provider.html"

    def get_queryset(self, request: HttpRequest) -> Rows:
        return Provider.objects.with_now()

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        title = gettext("money, in %s") % settings.CURRENCY
        return [
            (_("limits"), {"fields": LIMITS}),
            (_("batches"), {"fields": [STRATEGY], "description": about_batches(obj)}),
            (title, {"fields": MONEY}),
        ]

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.may(request, "change")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """Only superusers may change price and budget; without batches there is no choice."""
        fixed = [] if request.user.is_superuser else list(MONEY)
        has_choice = obj is None or services.has_batches(obj.name) or obj.strategy == Strategy.BATCH
        return fixed if has_choice else [*fixed, STRATEGY]

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Send the shown value along, so that saving an old form doesn't undo newer changes."""
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field:
            field.show_hidden_initial = True
            # A page that was opened before an update lacks the new fields, and keeps their values.
            field.required &= request.method != "POST" or db_field.name in request.POST
        return field

    def construct_change_message(
        self, request: HttpRequest, form: Any, formsets: Any, add: bool = False
    ) -> Any:
        """The old and the new value of each edited field."""
        edited = [
            f"{name}: {_value(form.initial.get(name))} → {_value(form.cleaned_data[name])}"
            for name in form.changed_data
        ]
        return ", ".join(edited) or super().construct_change_message(request, form, formsets, add)

    def save_model(self, request: HttpRequest, obj: Provider, form: Any, change: bool) -> None:
        """Write the edited columns only: meanwhile calls may have changed tokens and spending."""
        edited = [name for name in form.changed_data if name in (*LIMITS, STRATEGY, *MONEY)]
        if STRATEGY in edited:
            obj.batch_note = ""  # a person has mended it, or wants it tried again
            edited.append("batch_note")
        if edited:
            obj.save(update_fields=edited)
        if STRATEGY in edited and obj.strategy == Strategy.SYNC:
            self.tell_what_is_let_go(request, obj)
        if obj.lacks_price:
            text = gettext("%s has a budget but no price: no call starts until its price is set.")
            self.message_user(request, text % obj, messages.WARNING)

    def tell_what_is_let_go(self, request: HttpRequest, provider: Provider) -> None:
        """Calls that wait for a batch are bought at full price now: see `collecting`."""
        calls = Call.objects.filter(provider=provider.name, strategy="")
        if waits := counting.count(batches.hurriable(calls)):
            text = gettext(
                "Calls that wait for a batch and are made at once now, at full price: %(number)s,"
                " for about %(cost)s."
            )
            text %= {"number": waits, "cost": about(provider, waits)}
            self.message_user(request, text, messages.WARNING)

    def adorn(self, rows: list[Any]) -> None:
        found = {each.provider.name: each for each in providers.look(figures.by_status())}
        for row in rows:
            row.figures = found.get(row.name)

    def describe(self, request: HttpRequest, provider: Provider) -> dict[str, Any]:
        self.adorn([provider])
        return {
            "provider": provider,
            "no_batches": needs.no_batches(provider),
            "may_act": self.may(request, "change"),
            "log": audit.about(provider)[:20],
        }

    # What the list shows

    @display(description=_("state"), label=COLOURS)  # type: ignore[untyped-decorator]
    def state(self, provider: Any) -> tuple[str, str]:
        found = provider.figures
        return (found.colour, found.state) if found else ("plain", "")

    @admin.display(description=_("calls in the last minute"))
    def rate(self, provider: Any) -> str:
        used = provider.figures.last_minute if provider.figures else 0
        return f"{used} / {provider.requests_per_minute or '∞'}"

    @admin.display(description=_("running"))
    def running(self, provider: Any) -> str:
        return (
            f"{provider.figures.running if provider.figures else 0} / {provider.max_running or '∞'}"
        )

    @admin.display(description=_("spent today"))
    def spent_today(self, provider: Provider) -> str:
        return money.shown(provider.spent_today)

    @admin.display(description=_("left today"))
    def left_today(self, provider: Provider) -> str:
        left = provider.left_today
        return gettext("no limit") if left is None else money.shown(left)

    # Pause and resume

    def get_urls(self) -> list[URLPattern]:
        pause = self.admin_site.admin_view(require_POST(self.pause))
        resume = self.admin_site.admin_view(require_POST(self.resume))
        return [
            path("<path:object_id>/pause/", pause, name="jobs_provider_pause"),
            path("<path:object_id>/resume/", resume, name="jobs_provider_resume"),
            *super().get_urls(),
        ]

    def pause(self, request: HttpRequest, object_id: str) -> HttpResponse:
        provider = self.object_or_refuse(request, object_id, "change")
        form = PauseForm(request.POST)
        if form.is_valid():
            reason = form.cleaned_data["reason"] or sentences.PAUSED % request.user
            until = form.cleaned_data["until"]
            with transaction.atomic():
                is_new = pausing.pause(provider.name, reason, until, by=request.user)
                if is_new:
                    audit.note(request.user, [provider], sentences.paused(until, reason))
            if is_new:
                text = gettext("%s is paused for every worker; running calls finish.") % provider
                self.message_user(request, text, messages.SUCCESS)
            else:
                text = gettext("%s already has a longer pause, which was kept.")
                self.message_user(request, text % provider, messages.WARNING)
        else:
            for errors in form.errors.values():
                self.message_user(request, " ".join(map(str, errors)), messages.ERROR)
        return self.back(request, provider)

    def resume(self, request: HttpRequest, object_id: str) -> HttpResponse:
        provider = self.object_or_refuse(request, object_id, "change")
        with transaction.atomic():
            pausing.resume(provider.name, by=request.user)
            audit.note(request.user, [provider], sentences.RESUMED)
        self.message_user(request, gettext("%s is open again.") % provider, messages.SUCCESS)
        return self.back(request, provider)

    def back(self, request: HttpRequest, provider: Provider) -> HttpResponse:
        from_dashboard = request.POST.get("from") == "dashboard"
        where = reverse("admin:index") if from_dashboard else self.page_of(provider)
        return HttpResponseRedirect(where)


def about_batches(provider: Provider | None) -> str:
    """What the choice means for this provider."""
    if provider is None or not services.has_batches(provider.name):
        return gettext("This provider has no batches: every call is made at once.")
    text = gettext(
        "In batches, calls wait for up to a day and cost %(percent)s %% of the price. A batch that"
        " has collected its calls goes on after a change. Calls that still wait for a batch are"
        " made at once, at full price, when “at once” is chosen here, unless their job asked for a"
        " batch."
    )
    return text % {"percent": provider.batch_percent}


def about(provider: Provider, calls: int) -> str:
    """What these calls cost if they are made at once; without their tokens."""
    cost = money.shown(provider.cost() * calls)
    return gettext("%s plus tokens") % cost if provider.tokens_cost else cost


def _value(value: object) -> str:
    return "–" if value is None else str(value)
