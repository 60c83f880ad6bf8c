"""Users and groups in Unfold's look, and the admin's search."""

from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group, User
from django.core.exceptions import BadRequest
from django.core.paginator import InvalidPage
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from config.doors import admin as doors  # noqa: F401 (registers itself)
from jobs.admin.base import GuardedAdmin
from jobs.console import former_users, lineage, sentences

admin.site.unregister([User, Group])


@admin.register(User)
class UserAdmin(DjangoUserAdmin, GuardedAdmin):  # type: ignore[misc]
    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm

    def list_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Without an action that deletes many users at once: see delete_view."""
        actions: dict[str, Any] = super().list_actions(request)
        actions.pop("delete_selected", None)
        return actions

    def delete_view(self, request: HttpRequest, object_id: str, *more: Any) -> HttpResponse:
        """Refuse to delete a person who has done something: the log must keep who it was."""
        user = self.get_object(request, unquote(object_id))
        if user and former_users.has_acted(user) and self.has_delete_permission(request, user):
            text = _(
                "%(user)s is not deleted, because the log keeps what people did."
                " Untick “Active” instead: then nobody can log in by this name."
            )
            self.message_user(request, text % {"user": user}, messages.WARNING)
            return HttpResponseRedirect(reverse("admin:auth_user_change", args=[user.pk]))
        response: HttpResponse = super().delete_view(request, object_id, *more)
        return response

    def history_view(self, *args: Any, **kwargs: Any) -> HttpResponse:
        response: Any = super().history_view(*args, **kwargs)
        for entry in getattr(response, "context_data", {}).get("action_list", []):
            entry.change_message = sentences.told(entry.get_change_message())
        return response  # type: ignore[no-any-return]


@admin.register(Group)
class GroupAdmin(DjangoGroupAdmin, GuardedAdmin):  # type: ignore[misc]
    pass


def search(request: HttpRequest) -> HttpResponse:
    """The page of a trace, or Unfold's search of the menu, which can't read every page number."""
    if trace_id := lineage.trace_in(request.GET.get("s", "")):
        return HttpResponseRedirect(reverse("admin:jobs_trace", args=[trace_id]))
    try:
        response: HttpResponse = admin.site.search(request)  # type: ignore[attr-defined]
    except (InvalidPage, ValueError):
        raise BadRequest(_("There is no such page.")) from None
    return response
