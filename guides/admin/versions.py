"""Every picture, shown now or earlier."""

from typing import Any

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from guides.admin.shown import small_picture, srcset_of
from guides.models import SpotImage
from jobs.admin import ReadOnlyAdmin
from jobs.paid import money


@admin.register(SpotImage)
class SpotImageAdmin(ReadOnlyAdmin):
    list_display = [
        *("picture", "spot", "version", "is_current", "asked_by", "provider", "model"),
        *("price", "seconds", "created_at"),
    ]
    list_display_links = ["spot"]
    search_fields = ["spot__guide_id__exact"]
    search_help_text = _("plan id")
    list_select_related = ["spot"]
    ordering = ["-id"]
    sortable_by: list[str] = []

    @admin.display(description=_("picture"))
    def picture(self, version: Any) -> str:
        return small_picture(srcset_of(version))

    @admin.display(description=_("cost"))
    def price(self, version: Any) -> str:
        return money.shown(version.cost)
