"""What visitors see. One page asks once for all of its pictures that are still on their way."""

import logging
import zlib
from collections.abc import Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db.models import OuterRef, Q, Subquery
from django.http import (
    FileResponse,
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseRedirect,
)
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from guides import names
from guides.models import Guide, SpotDetail
from jobs import storage
from jobs.errors import StorageRefused

log = logging.getLogger(__name__)

GUIDES_PER_PAGE = 24
SIGNED_SECONDS = 60 * 60
NOTHING_NEW = 204  # htmx leaves the page as it is
STOP_POLLING = 286


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    # Counting forgets the order of the model.
    guides = Guide.objects.with_progress().order_by("-created_at", "plan_id")
    page = Paginator(guides, GUIDES_PER_PAGE).get_page(request.GET.get("page"))
    plan_ids = [guide.pk for guide in page]
    covers = find_covers(plan_ids)
    loading = SpotDetail.objects.loading().filter(guide__in=plan_ids)
    context = {
        "page": page,
        "cards": [(guide, covers.get(guide.pk)) for guide in page],
        "unfinished": sorted(set(loading.values_list("guide_id", flat=True))),
    }
    return render(request, "guides/home.html", context)


@require_safe
def guide(request: HttpRequest, plan_id: str) -> HttpResponse:
    shown = find_guide(plan_id)
    spots = list(shown.spots.with_jobs())
    return render(request, "guides/guide.html", {"spots": spots, **progress(shown, spots)})


@require_safe
@never_cache
def images(request: HttpRequest, plan_id: str) -> HttpResponse:
    """What changed since the page last looked; the answer without a trigger ends its asking."""
    try:
        shown = find_guide(plan_id)
    except Http404:
        if "HX-Request" not in request.headers:
            raise
        return HttpResponse(status=STOP_POLLING, headers={"HX-Refresh": "true"})  # deleted since
    spots = list(shown.spots.with_jobs())
    context = progress(shown, spots)
    if request.GET.get("spots") != context["fingerprint"]:
        # The guide has other spots than the page: nothing less than the whole page will do.
        return HttpResponse(status=STOP_POLLING, headers={"HX-Refresh": "true"})
    before = request.GET.get("states", "").ljust(len(spots))
    changed = [spot for spot, state in zip(spots, before, strict=False) if letter(spot) != state]
    if context["unfinished"] and not changed:
        return HttpResponse(status=NOTHING_NEW)
    status = 200 if context["unfinished"] else STOP_POLLING
    return render(request, "guides/images.html", {"changed": changed, **context}, status=status)


@require_safe
@never_cache
def spot_image(request: HttpRequest, plan_id: str, spot_id: int) -> HttpResponse:
    spots = find_guide(plan_id).spots.with_jobs()
    return render(request, "guides/spot_image.html", {"spot": get_object_or_404(spots, pk=spot_id)})


@require_safe
def picture(request: HttpRequest, name: str) -> HttpResponseBase:
    """A file that never changes: its name is made of its content.

    Of a bucket it is the way to the file. Whether the file is there the bucket itself will say:
    asking it first would make each picture wait for it twice, and this site when it hangs.
    """
    files = storage.named("pictures")
    if isinstance(files, storage.Bucket):
        try:
            signed = files.signed_url(f"pictures/{name}", SIGNED_SECONDS)
        except StorageRefused as error:
            log.error("No address for a picture: %s", error)
            return HttpResponse(status=503)
        keep = {"Cache-Control": f"public, max-age={SIGNED_SECONDS // 6}"}
        return HttpResponseRedirect(signed, headers=keep)
    try:
        file = files.open(f"pictures/{name}")
    except FileNotFoundError:
        raise Http404(f"There is no picture {name}.") from None
    headers = {
        "Cache-Control": "public, max-age=31536000, immutable",
        "X-Content-Type-Options": "nosniff",
    }
    return FileResponse(file, content_type="image/webp", headers=headers)


def find_guide(plan_id: str) -> Guide:
    try:
        names.validate_plan_id(plan_id)  # a database may choke on what can't be an id
    except ValidationError as error:
        raise Http404("No guide has such an id.") from error
    return get_object_or_404(Guide, pk=plan_id)


def find_covers(plan_ids: list[str]) -> dict[str, SpotDetail]:
    """Of each guide the first spot that has a picture, or else the first."""
    pictures_first = (
        SpotDetail.objects.filter(guide=OuterRef("pk"))
        .annotate(unpainted=Q(image_url=""))
        .order_by("unpainted", "position", "id")
    )
    chosen = Guide.objects.filter(pk__in=plan_ids).annotate(
        cover=Subquery(pictures_first.values("pk")[:1])
    )
    spots = SpotDetail.objects.with_jobs().filter(pk__in=chosen.values("cover"))
    return {spot.guide_id: spot for spot in spots}


def progress(guide: Guide, spots: Sequence[SpotDetail]) -> dict[str, Any]:
    """How far the pictures are, and what the page must know to ask for the rest."""
    states = "".join(letter(spot) for spot in spots)
    ids = ",".join(str(spot.pk) for spot in spots)
    return {
        "guide": guide,
        "ready": states.count("r"),
        "total": len(spots),
        "unfinished": "l" in states,
        "states": states,
        "fingerprint": f"{zlib.crc32(ids.encode()):08x}",
    }


def letter(spot: SpotDetail) -> str:
    """Ready, loading, failed or none, short enough for 500 of them in an address."""
    return spot.picture_state[0]
