"""Every picture, shown now or earlier."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.formats import localize
from django.utils.translation import gettext_lazy as _

from guides.admin.shown import small_picture, srcset_of
from guides.models import SpotDetail, SpotImage
from guides.search import found
from jobs.admin import ReadOnlyAdmin
from jobs.paid import money

MOST = 1_000  # spots that a search looks at, the newest ones


@admin.register(SpotImage)
class SpotImageAdmin(ReadOnlyAdmin):
    list_display = [
        *("picture", "spot", "version", "is_current", "asked_by", "provider", "model"),
        *("price", "took", "created_at"),
    ]
    list_display_links = ["spot"]
    search_fields = ["spot"]  # only to show the search box
    search_help_text = _("name or plan id: newest 1,000 spots")
    list_select_related = ["spot"]
    ordering = ["-id"]
    sortable_by: list[str] = []

    def get_search_results(
        self, request: HttpRequest, queryset: Any, search_term: str
    ) -> tuple[Any, bool]:
        term = search_term.strip().replace("\x00", "")
        wanted = found(SpotDetail, "guide_id", term, "spot_name")
        # A list of ids: joined, PostgreSQL would look at every version.
        spots = SpotDetail.objects.filter(wanted).order_by("-id").values_list("id", flat=True)
        return (queryset.filter(spot_id__in=list(spots[:MOST])) if term else queryset), False

    @admin.display(description=_("picture"))
    def picture(self, version: Any) -> str:
        return small_picture(srcset_of(version))

    @admin.display(description=_("cost"))
    def price(self, version: Any) -> str:
        return money.shown(version.cost)

    @admin.display(description=_("seconds"))
    def took(self, version: Any) -> str:
        """Empty for a picture that came by batch."""
        return localize(version.seconds) if version.seconds else ""
