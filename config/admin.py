"""Users and groups in Unfold's look, and the admin's search."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group, User
from django.core.exceptions import BadRequest
from django.core.paginator import InvalidPage
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from config.doors import admin as doors  # noqa: F401 (registers itself)
from config.doors import noting
from jobs.admin.base import GuardedAdmin

admin.site.unregister([User, Group])


@admin.register(User)
class UserAdmin(DjangoUserAdmin, GuardedAdmin):
    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm

    def history_view(self, *args: Any, **kwargs: Any) -> HttpResponse:
        response: Any = super().history_view(*args, **kwargs)
        for entry in getattr(response, "context_data", {}).get("action_list", []):
            entry.change_message = noting.translated(entry.change_message)
        return response  # type: ignore[no-any-return]


@admin.register(Group)
class GroupAdmin(DjangoGroupAdmin, GuardedAdmin):
    pass


def search(request: HttpRequest) -> HttpResponse:
    """Unfold's search of the menu; it can't read every page number."""
    try:
        response: HttpResponse = admin.site.search(request)  # type: ignore[attr-defined]
    except (InvalidPage, ValueError):
        raise BadRequest(_("There is no such page.")) from None
    return response
