"""Guides: how far their pictures are, and a gallery of them."""

from typing import Any

from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.db.models import Count, JSONField, Q, TextField
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from unfold.admin import TabularInline
from unfold.widgets import UnfoldAdminTextareaWidget

from guides.admin.shown import thumbnail
from guides.models import Guide, SpotDetail, SpotImage
from jobs.admin.base import AdornedChangeList, CappedPaginator, FoundByKey

MOST_SPOTS = 500


class SpotInline(TabularInline):
    model = SpotDetail
    extra = 0
    formfield_overrides = {
        field: {"widget": UnfoldAdminTextareaWidget(attrs={"rows": 2})}
        for field in (TextField, JSONField)
    }
    fields = ["position", "spot_name", "description", "topic_tags", "image_status", thumbnail]
    # A form that was open while the picture arrived must not take it away again.
    readonly_fields = ["image_status", thumbnail]


@admin.register(Guide)
class GuideAdmin(FoundByKey):
    list_display = ["title", "destination", "pictures", "created_at"]
    search_fields = ["title", "destination", "plan_id__exact"]
    inlines = [SpotInline]
    show_full_result_count = False
    paginator = CappedPaginator
    list_per_page = 50
    list_max_show_all = 0
    sortable_by: list[str] = []
    change_form_outer_before_template = "admin/guides/gallery.html"

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        return False  # there are no filters, and any other question would read all guides

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[AdornedChangeList]:
        return AdornedChangeList

    def adorn(self, rows: list[Any]) -> None:
        """Count the pictures of this page's guides alone."""
        spots = SpotDetail.objects.filter(guide__in=[guide.pk for guide in rows]).order_by()
        counted = spots.values("guide_id").annotate(
            ready=Count("id", filter=~Q(image_url="")), spots=Count("id")
        )
        numbers = {row["guide_id"]: (row["ready"], row["spots"]) for row in counted}
        for guide in rows:
            guide.ready_count, guide.spot_count = numbers.get(guide.pk, (0, 0))

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["plan_id"] if obj else []  # the address of a guide does not change

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """A guide may be deleted with its pictures, though nobody deletes those by themselves."""
        shown, counts, perms_needed, protected = super().get_deleted_objects(objs, request)
        parts = {SpotImage._meta.verbose_name, SpotDetail._meta.verbose_name}
        return shown, counts, perms_needed - parts, protected

    @admin.display(description=_("pictures"))
    def pictures(self, guide: Any) -> SafeString:
        return format_html(
            '<progress max="{}" value="{}"></progress> {} / {}',
            max(guide.spot_count, 1),
            guide.ready_count,
            guide.ready_count,
            guide.spot_count,
        )

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        spots = SpotDetail.objects.filter(guide=unquote(object_id)).with_jobs()
        spots = spots.annotate(versions=Count("images")).order_by("position", "id")
        gallery = list(spots[:MOST_SPOTS])
        context = {
            "gallery": gallery,
            "ready": sum(bool(spot.image_url) for spot in gallery),
            **(extra_context or {}),
        }
        response: HttpResponse = super().change_view(request, object_id, form_url, context)
        return response
