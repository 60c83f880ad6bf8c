"""Guides: how far their pictures are, and a gallery of them."""

from typing import Any

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import Count, TextField
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop, ngettext
from unfold.admin import TabularInline
from unfold.widgets import UnfoldAdminTextareaWidget

from guides import services
from guides.admin.commissions import commission_lines
from guides.admin.shown import thumbnail
from guides.admin.tags import SpotForm
from guides.admin.texts import versions_link
from guides.admin.translation import Translating
from guides.admin.writing import WritingMixin
from guides.derived import commissions, versions
from guides.models import PAINTED, Guide, SpotDetail, SpotImage
from guides.search import found
from guides.translation.models import GuideTranslation
from jobs import queue
from jobs.admin.base import CappedPaginator, DescribedAdmin
from jobs.console import audit, shown

MOST_SPOTS = 500
MOST_COMMISSIONS = 20
MANY = 1_000  # a count stops here
WORDS = {"destination", "picture_style", "description", "topic_tags"}  # parts of the prompt


class SpotInline(TabularInline):
    model = SpotDetail
    form = SpotForm
    extra = 0
    formfield_overrides = {TextField: {"widget": UnfoldAdminTextareaWidget(attrs={"rows": 2})}}
    fields = ["position", "spot_name", "description", "topic_tags", "image_status", thumbnail]
    # A form opened before the picture arrived must not remove the picture when it is saved.
    readonly_fields = ["image_status", thumbnail]


@admin.register(Guide)
class GuideAdmin(WritingMixin, Translating, DescribedAdmin):
    list_display = ["title", "destination", "pictures", "created_at", "withdrawn"]
    search_fields = ["title"]  # only to show the search box
    search_help_text = _("title, destination or plan id")
    inlines = [SpotInline]
    show_full_result_count = False
    paginator = CappedPaginator
    list_per_page = 50
    list_max_show_all = 0
    actions = ["publish"]
    sortable_by: list[str] = []
    change_form_outer_before_template = "admin/guides/before_guide.html"

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        return False  # there are no filters, and a handmade lookup would scan all guides

    def get_search_results(
        self, request: HttpRequest, queryset: Any, search_term: str
    ) -> tuple[Any, bool]:
        term = search_term.strip().replace("\x00", "")
        wanted = found(Guide, "plan_id", term, "title", "destination")
        return (queryset.filter(wanted) if term else queryset), False

    def adorn(self, rows: list[Any]) -> None:
        """Count pictures only for the guides on this page."""
        spots = SpotDetail.objects.filter(guide__in=[guide.pk for guide in rows]).order_by()
        counted = spots.values("guide_id").annotate(
            ready=Count("id", filter=PAINTED), spots=Count("id")
        )
        numbers = {row["guide_id"]: (row["ready"], row["spots"]) for row in counted}
        for guide in rows:
            guide.ready_count, guide.spot_count = numbers.get(guide.pk, (0, 0))

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        if obj is None:
            return []
        # A guide's address never changes.
        return ["plan_id", "withdrawn_at"] if obj.withdrawn_at else ["plan_id"]

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if change and "picture_strategy" in form.changed_data:
            self.hurry(request, obj)

    def hurry(self, request: HttpRequest, guide: Guide) -> None:
        if hurried := services.hurry_pictures(guide):
            text = ngettext(
                "%s picture that waited for a batch is made now.",
                "%s pictures that waited for a batch are made now.",
                hurried,
            )
            self.message_user(request, text % hurried, messages.SUCCESS)

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        """Ask again for failed pictures whose words have changed, as the API does."""
        of_all = not WORDS.isdisjoint(form.changed_data)
        kept = [each for each in formset.initial_forms if each not in formset.deleted_forms]
        reworded = [each for each in kept if of_all or not WORDS.isdisjoint(each.changed_data)]
        # Before the spots are saved: jobs are always locked first.
        asked = services.ask_again(form.instance, [each.instance.spot_name for each in reworded])
        super().save_formset(request, form, formset, change)
        if asked:
            text = ngettext(
                "%s failed picture was asked for again.",
                "%s failed pictures were asked for again.",
                asked,
            )
            self.message_user(request, text % asked, messages.SUCCESS)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        if not change:
            services.note_saved(form.instance, "created")
        elif any(each.has_changed() for each in (form, *formsets)):
            services.note_saved(form.instance, "updated")

    @admin.action(description=_("Publish withdrawn guides again"), permissions=["change"])
    @queue.repeated
    def publish(self, request: HttpRequest, queryset: Any) -> None:
        others = queryset.published()[:MANY].count()
        with transaction.atomic():
            found, asked = services.publish_guides(queryset)
            audit.note(request.user, found, gettext_noop("Published again."))
        level = messages.SUCCESS if found else messages.WARNING
        self.message_user(request, _("Guides published again: %s.") % len(found), level)
        if asked:
            text = _("Missing pictures that were asked for again: %s.") % asked
            self.message_user(request, text, messages.SUCCESS)
        if others:
            text = _("Not changed, because they were not withdrawn: %s.") % others
            self.message_user(request, text, messages.WARNING)
        if queryset.withdrawn().exists():
            text = _("Only the first %s at once. Do it again for the rest.") % len(found)
            self.message_user(request, text, messages.WARNING)

    @admin.display(description=_("withdrawn since"))
    def withdrawn(self, guide: Guide) -> str:
        return shown.moment(guide.withdrawn_at) if guide.withdrawn_at else ""

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Let a guide be deleted with its pictures, though no person may delete a picture alone."""
        shown, counts, perms_needed, protected = super().get_deleted_objects(objs, request)
        parts = {each._meta.verbose_name for each in (SpotImage, SpotDetail, GuideTranslation)}
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

    def describe(self, request: HttpRequest, guide: Guide) -> dict[str, Any]:
        spots = guide.spots.with_jobs().annotate(versions=Count("images"))
        gallery = list(spots.order_by("position", "id")[:MOST_SPOTS])
        ready = sum(spot.picture_state == "ready" for spot in gallery)
        rows = list(commissions.of_guide(guide.plan_id)[:MOST_COMMISSIONS])
        return {
            **super().describe(request, guide),
            **self.describe_writing(request, guide),
            "gallery": gallery,
            "ready": ready,
            "commissions": commission_lines(request, rows, on=Guide),
            "versions_link": versions_link(versions.unit_of("guide", guide.plan_id)),
        }
