"""The page for people who lack a permission: it names the groups that have it."""

from django.contrib.auth.models import Group
from django.http import HttpRequest, HttpResponse, HttpResponseForbidden
from django.template.loader import render_to_string

ACTING = ("add", "change", "delete")
VERBS = {"add": ("add",), "delete": ("delete",)}  # of the pages with these names
# Pages that need another permission than their names and methods suggest.
NEEDED = {
    "new_guide": ("guides", "add_guide"),
    "guides_spotimagejob_new_picture": ("guides", "change_spotimagejob"),
    "jobs_batch_ask": ("jobs", "change_batch"),
    "jobs_process_ask": ("jobs", "change_process"),
    "guides_guide_translate": ("guides", "change_guide"),
    "guides_guide_translations": ("guides", "view_guide"),
    "guides_spotdetail_ask": ("guides", "change_spotimagejob"),
    "guides_spotdetail_use": ("guides", "change_spotimage"),
}


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    context = {"exception": str(exception), "groups": helpful_groups(request)}
    return HttpResponseForbidden(render_to_string("403.html", context, request))


def helpful_groups(request: HttpRequest) -> list[str]:
    """The groups that may do what this user asked for, without those the user is in."""
    name = (request.resolver_match and request.resolver_match.url_name) or ""
    app, codenames = needed(name, is_act=request.method == "POST")
    able = Group.objects.filter(
        permissions__content_type__app_label=app, permissions__codename__in=codenames
    )
    return sorted(set(able.exclude(user=request.user.pk).values_list("name", flat=True)))


def needed(name: str, *, is_act: bool) -> tuple[str, list[str]]:
    """The app and the permissions of which one opens the page with this name."""
    if name in NEEDED:
        app, codename = NEEDED[name]
        return app, [codename]
    app, model, page, *_more = [*name.split("_"), "", "", ""]
    verbs = VERBS.get(page) or (ACTING if is_act else ("view", *ACTING))
    return app, [f"{verb}_{model}" for verb in verbs]
