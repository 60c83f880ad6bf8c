"""A spot and every picture it has had, side by side."""

from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from guides import services
from guides.admin.shown import srcset_of, thumbnail
from guides.models import SpotDetail, SpotImage, SpotImageJob
from guides.search import found
from jobs.admin import ReadOnlyAdmin
from jobs.admin.base import refuse_forged
from jobs.console import audit
from jobs.console.sentences import sentence

MOST_VERSIONS = 24
SHOWN_AGAIN = sentence(gettext_noop("Shows version %s again."))


@admin.register(SpotDetail)
class SpotAdmin(ReadOnlyAdmin):
    list_display = [thumbnail, "spot_name", "plan_id", "image_status"]
    list_display_links = ["spot_name"]
    search_fields = ["spot_name"]  # only to show the search box
    search_help_text = _("name or plan id")
    ordering = ["-id"]
    sortable_by: list[str] = []
    change_form_template = "admin/guides/spot.html"

    def get_search_results(
        self, request: HttpRequest, queryset: Any, search_term: str
    ) -> tuple[Any, bool]:
        term = search_term.strip().replace("\x00", "")
        wanted = found(SpotDetail, "guide_id", term, "spot_name")
        return (queryset.filter(wanted) if term else queryset), False

    @admin.display(description=_("plan id"))
    def plan_id(self, spot: SpotDetail) -> str:
        return spot.guide_id

    def get_urls(self) -> list[URLPattern]:
        use = self.admin_site.admin_view(require_POST(self.use))
        ask = self.admin_site.admin_view(require_POST(self.ask))
        return [
            path("<path:object_id>/use/<int:version>/", use, name="guides_spotdetail_use"),
            path("<path:object_id>/ask/", ask, name="guides_spotdetail_ask"),
            *super().get_urls(),
        ]

    def describe(self, request: HttpRequest, spot: SpotDetail) -> dict[str, Any]:
        versions = list(spot.images.order_by("-version")[:MOST_VERSIONS])
        job = SpotImageJob.objects.filter(
            plan_id=spot.guide_id,
            spot_name=spot.spot_name,
        ).first()
        return {
            "spot": spot,
            "job": job,
            "versions": [
                {
                    "version": each,
                    "srcset": srcset_of(each),
                    "src": srcset_of(each).partition(" ")[0],
                }
                for each in versions
            ],
            "may_use": request.user.has_perm("guides.change_spotimage"),
            "may_ask": request.user.has_perm("guides.change_spotimagejob"),
            "log": audit.about(spot)[:20],
        }

    def use(self, request: HttpRequest, object_id: str, version: int) -> HttpResponse:
        """Show an older version again."""
        if not request.user.has_perm("guides.change_spotimage"):
            raise PermissionDenied
        spot = find_spot(object_id)
        chosen = get_object_or_404(SpotImage, spot=spot, version=version)
        with transaction.atomic():
            services.use_version(chosen)
            audit.note(request.user, [spot], SHOWN_AGAIN % version)
        text = gettext("The page of %(spot)s shows version %(version)s now.")
        self.message_user(request, text % {"spot": spot, "version": version}, messages.SUCCESS)
        return HttpResponseRedirect(self.page_of(spot))

    def ask(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask for the picture of a spot that has none, and whose job was deleted."""
        if not request.user.has_perm("guides.change_spotimagejob"):
            raise PermissionDenied
        spot = find_spot(object_id)
        with transaction.atomic():
            asked = services.request_images([spot])
            if asked:
                audit.note(request.user, [spot], gettext_noop("Asked for its picture."))
        if asked:
            text = gettext("A picture of %s is on its way.") % spot.spot_name
            self.message_user(request, text, messages.SUCCESS)
        else:
            text = (
                gettext("Nothing was changed: %s already has its picture, or a job for it.")
                % spot.spot_name
            )
            self.message_user(request, text, messages.WARNING)
        return HttpResponseRedirect(self.page_of(spot))


def find_spot(object_id: str) -> SpotDetail:
    refuse_forged(SpotDetail, unquote(object_id))
    return get_object_or_404(SpotDetail, pk=unquote(object_id))
