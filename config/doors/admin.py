"""API tokens in the console: made, rotated and revoked; a secret is shown once."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST
from unfold.decorators import display

from config.doors import tokens
from config.doors.models import ApiToken
from jobs.admin.base import DescribedAdmin, Rows
from jobs.console import audit

COLOURS = {"usable": "success", "revoked": "danger", "not_set": "warning"}
LABELS = {"usable": _("usable"), "revoked": _("revoked"), "not_set": _("not set")}


def state_of(token: ApiToken) -> str:
    if token.revoked_at:
        return "revoked"
    is_set = token.digest != tokens.IN_ENVIRONMENT or settings.API_TOKEN
    return "usable" if is_set else "not_set"


class TokenForm(forms.ModelForm):
    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"].strip()
        if name == tokens.SETTING:  # the form of the setting's own row has no name to edit
            raise forms.ValidationError(_("This name belongs to the token of the settings."))
        return name


@admin.register(ApiToken)
class ApiTokenAdmin(DescribedAdmin):
    form = TokenForm
    list_display = ["name", "state", "today", "pictures_per_day", "last_used_at", "created_at"]
    fields = ["name", "pictures_per_day"]
    sortable_by: list[str] = []
    actions: Any = []
    change_form_template = "admin/doors/token.html"

    def get_queryset(self, request: HttpRequest) -> Rows:
        return ApiToken.objects.with_now()

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False  # a revoked token stays as a record

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["name"] if obj and obj.digest == tokens.IN_ENVIRONMENT else []

    @display(description=_("state"), label=COLOURS)  # type: ignore[untyped-decorator]
    def state(self, token: ApiToken) -> tuple[str, str]:
        return state_of(token), str(LABELS[state_of(token)])

    @admin.display(description=_("pictures today"))
    def today(self, token: ApiToken) -> int:
        return token.used_today

    def describe(self, request: HttpRequest, token: ApiToken) -> dict[str, Any]:
        has_secret = token.digest != tokens.IN_ENVIRONMENT
        may_act = self.has_change_permission(request) and has_secret and not token.revoked_at
        return {
            "token": token,
            "state": state_of(token),
            "state_label": LABELS[state_of(token)],
            "may_act": may_act,
            "log": audit.about(token)[:20],
        }

    # The secret is part of one answer: neither a message nor a redirect could keep it private.

    def save_model(self, request: HttpRequest, obj: ApiToken, form: Any, change: bool) -> None:
        if not change:
            obj.new_secret = tokens.give_secret(obj)  # type: ignore[attr-defined]
        # Only what was edited: meanwhile the token may have been used.
        obj.save(update_fields=form.changed_data or ["name"] if change else None)

    def response_add(self, request: HttpRequest, obj: Any, *_: Any) -> HttpResponse:
        return self.show_secret(request, obj, obj.new_secret)

    def show_secret(self, request: HttpRequest, token: ApiToken, secret: str) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("The secret of %s") % token,
            "opts": self.opts,
            "token": token,
            "secret": secret,
            "api": request.build_absolute_uri(reverse("hand_over")),
            "back": reverse("admin:config_apitoken_change", args=[token.pk]),
        }
        response = TemplateResponse(request, "admin/doors/secret.html", context)
        response.headers["Cache-Control"] = "no-store"
        return response

    # Rotate and revoke

    def get_urls(self) -> list[URLPattern]:
        rotate = self.admin_site.admin_view(never_cache(require_POST(self.rotate)))
        revoke = self.admin_site.admin_view(require_POST(self.revoke))
        return [
            path("<path:object_id>/rotate/", rotate, name="config_apitoken_rotate"),
            path("<path:object_id>/revoke/", revoke, name="config_apitoken_revoke"),
            *super().get_urls(),
        ]

    def rotate(self, request: HttpRequest, object_id: str) -> HttpResponse:
        with transaction.atomic():
            token = self.usable_or_refuse(request, object_id)
            secret = tokens.give_secret(token)
            token.save(update_fields=["digest"])
            audit.note(request.user, [token], gettext_noop("Rotated: the old secret is void."))
        return self.show_secret(request, token, secret)

    def revoke(self, request: HttpRequest, object_id: str) -> HttpResponse:
        with transaction.atomic():
            token = self.usable_or_refuse(request, object_id)
            tokens.revoke(token)
            audit.note(request.user, [token], gettext_noop("Revoked."))
        said = gettext("The token %s no longer works.") % token
        self.message_user(request, said, messages.SUCCESS)
        return HttpResponseRedirect(reverse("admin:config_apitoken_change", args=[token.pk]))

    def usable_or_refuse(self, request: HttpRequest, object_id: str) -> ApiToken:
        """The token that a user wants to act on; a revoked one and the setting's stay as is."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        token: ApiToken | None = self.get_object(request, object_id)
        usable = tokens.usable_rows().select_for_update()
        if token is None or not usable.filter(pk=token.pk).exists():
            raise Http404
        return token
