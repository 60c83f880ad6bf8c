"""The jobs that make pictures, each with its picture."""

from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.utils import quote
from django.db import transaction
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods
from unfold.decorators import display

from guides import services
from guides.admin.shown import small_picture
from guides.later import strategies_of
from guides.models import SpotDetail, SpotImageJob
from guides.search import found
from jobs.admin import JobAdmin
from jobs.console import audit
from jobs.models import ENDED, Provider
from jobs.paid import limits
from jobs.paid.batches.strategy import takes_batches


@admin.register(SpotImageJob)
class SpotImageJobAdmin(JobAdmin):
    list_display = ["picture", *JobAdmin.list_display]
    search_help_text = _("name of a spot, id, plan id or trace; among failed ones the error")
    exhibit_template = "admin/guides/exhibit.html"
    # No rerun: it could buy a picture twice by mistake. "New picture" asks first.
    job_actions = tuple(name for name in JobAdmin.job_actions if name != "rerun")

    def search(self, term: str) -> Q:
        return super().search(term) | found(SpotImageJob, "plan_id", term, "spot_name")

    def adorn(self, rows: list[Any]) -> None:
        super().adorn(rows)
        spots = SpotDetail.objects.filter(
            guide_id__in=[job.plan_id for job in rows],
            spot_name__in=[job.spot_name for job in rows],
        )
        known = {(spot.guide_id, spot.spot_name): spot for spot in spots}
        for job in rows:
            job.spot = known.get((job.plan_id, job.spot_name))

    @admin.display(description=_("picture"))
    def picture(self, job: Any) -> str:
        return small_picture(job.spot.srcset if job.spot else "")

    @display(description=_("spot"))  # type: ignore[untyped-decorator]
    def subject(self, job: Any) -> str:
        return format_html("{} <span class='tc-quiet'>{}</span>", job.spot_name, job.plan_id)

    def exhibit(self, request: HttpRequest, job: SpotImageJob) -> dict[str, Any]:
        spot = job.spots().first()
        buttons = []
        if self.may(request, "change") and job.status in ENDED:
            buttons.append({"title": _("New picture"), "link": self.address_of(job)})
        if spot and request.user.has_perm("guides.change_guide"):
            guide = reverse("admin:guides_guide_change", args=[quote(spot.guide_id)])
            buttons.append({"title": _("Edit the guide"), "link": guide})
        return {"spot": spot, "more_buttons": buttons}

    # A new picture: pays again, on purpose

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(require_http_methods(["GET", "POST"])(self.new_picture))
        name = "guides_spotimagejob_new_picture"
        return [path("<path:object_id>/new-picture/", view, name=name), *super().get_urls()]

    def address_of(self, job: SpotImageJob) -> str:
        return reverse("admin:guides_spotimagejob_new_picture", args=[job.pk])

    def new_picture(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show the cost first; a POST then asks for the picture."""
        job = self.object_or_refuse(request, object_id, "change")
        if request.method != "POST":
            provider = limits.find(SpotImageJob.provider_name())
            by_batch = comes_by_batch(job, provider)
            price, left = provider.cost(batch=by_batch), provider.left_today
            context = {
                **self.admin_site.each_context(request),
                "title": _("New picture"),
                "opts": self.opts,
                "job": job,
                "price": price,
                "by_batch": by_batch,
                "provider": provider.name,
                "left_today": left,
                "is_beyond_budget": left is not None and price > left,
                "costs_nothing": SpotImageJob.provider_is_free(),
                "can_ask": job.status in ENDED,
                "back": self.page_of(job),
            }
            return TemplateResponse(request, "admin/guides/new_picture.html", context)
        jobs: Any = SpotImageJob.objects.filter(pk=job.pk)
        with transaction.atomic():
            asked, left_alone = services.request_new_pictures(jobs, by=request.user)
            if asked:
                audit.note(request.user, [job], gettext_noop("Asked for a new picture."))
        if asked:
            self.message_user(request, on_its_way(job) % job.spot_name, messages.SUCCESS)
        if left_alone:
            text = (
                gettext("Nothing was changed: a picture of %s is already on its way.")
                % job.spot_name
            )
            self.message_user(request, text, messages.WARNING)
        return HttpResponseRedirect(self.page_of(job))


def comes_by_batch(job: SpotImageJob, provider: Provider) -> bool:
    return takes_batches(provider, strategies_of([job.plan_id]).get(job.plan_id, ""))


def on_its_way(job: SpotImageJob) -> str:
    if comes_by_batch(job, limits.find(SpotImageJob.provider_name())):
        return gettext("A new picture of %s arrives by tomorrow; the old one stays until then.")
    return gettext("A new picture of %s is on its way; the old one stays until it is ready.")
