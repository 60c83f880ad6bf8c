"""Guides and pictures for operators. Saving a spot here asks for its picture like anywhere else."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin, TabularInline

from guides.models import Guide, GuideQuerySet, SpotDetail, SpotImage, SpotImageJob
from jobs.admin import JobAdmin, ReadOnlyAdmin


@admin.display(description=_("picture"))
def thumbnail(spot: SpotDetail) -> SafeString | str:
    if not spot.srcset:  # nothing of ours: a foreign address is not fetched from here
        return "–"
    smallest = spot.srcset.split()[0]
    return format_html('<img src="{}" alt="" width="64" height="64" loading="lazy">', smallest)


class SpotInline(TabularInline):
    model = SpotDetail
    extra = 0
    fields = ["position", "spot_name", "description", "topic_tags", "image_status", thumbnail]
    # A form that was open while the picture arrived must not take it away again.
    readonly_fields = ["image_status", thumbnail]


@admin.register(Guide)
class GuideAdmin(ModelAdmin):
    list_display = ["title", "destination", "pictures", "created_at"]
    search_fields = ["title", "destination", "=plan_id"]
    inlines = [SpotInline]

    def get_queryset(self, request: HttpRequest) -> GuideQuerySet:
        return Guide.objects.with_progress()

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["plan_id"] if obj else []  # the address of a guide does not change

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """A guide may be deleted with its pictures, though nobody deletes those by themselves."""
        shown, counts, perms_needed, protected = super().get_deleted_objects(objs, request)
        return shown, counts, perms_needed - {SpotImage._meta.verbose_name}, protected

    @admin.display(description=_("pictures"))
    def pictures(self, guide: Any) -> str:
        return f"{guide.ready_count} / {guide.spot_count}"


@admin.register(SpotImageJob)
class SpotImageJobAdmin(JobAdmin):
    list_display = [
        *("spot_name", "plan_id", "state", "attempts", "error_kind", "run_after"),
        *("locked_by", "finished_at"),
    ]
    list_filter = ["status", "error_kind"]
    search_fields = ["=id", "=plan_id", "spot_name"]


@admin.register(SpotImage)
class SpotImageAdmin(ReadOnlyAdmin):
    list_display = ["spot", "version", "is_current", "provider", "model", "cost", "created_at"]
    list_filter = ["is_current", "provider"]
    search_fields = ["spot__spot_name"]
    list_select_related = ["spot"]

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
