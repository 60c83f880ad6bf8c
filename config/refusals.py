"""The page for people who lack a permission: it names the groups that have it."""

from django.contrib.auth.models import Group
from django.http import HttpRequest, HttpResponse, HttpResponseForbidden
from django.template.loader import render_to_string

ACTING = ("add", "change", "delete")
VERBS = {"add": ("add",), "delete": ("delete",)}  # of the pages with these names


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    context = {"exception": str(exception), "groups": helpful_groups(request)}
    return HttpResponseForbidden(render_to_string("403.html", context, request))


def helpful_groups(request: HttpRequest) -> list[str]:
    """The groups that may do what this user asked for, without those the user is in."""
    name = (request.resolver_match and request.resolver_match.url_name) or ""
    if name == "new_guide":
        name = "guides_guide_add"
    app, model, page, *_more = [*name.split("_"), "", "", ""]
    verbs = VERBS.get(page) or (ACTING if request.method == "POST" else ("view", *ACTING))
    able = Group.objects.filter(
        permissions__content_type__app_label=app,
        permissions__codename__in=[f"{verb}_{model}" for verb in verbs],
    )
    return sorted(set(able.exclude(user=request.user.pk).values_list("name", flat=True)))
