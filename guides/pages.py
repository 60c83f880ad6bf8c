"""What visitors see. A page polls with one request for all of its missing pictures."""

import logging
from typing import Any

from django.core.paginator import Paginator
from django.http import (
    FileResponse,
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseRedirect,
)
from django.shortcuts import get_object_or_404, render
from django.templatetags.static import static
from django.utils.cache import patch_vary_headers, set_response_etag
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import conditional_page, require_safe

from config import errors
from config.kept import is_stranger, kept
from guides import revision, validators
from guides.cards import find_cards, unfinished
from guides.later import tell_later
from guides.models import Guide, SpotDetail
from guides.status import CODE, GuideStatus, code, codes, find_status, looks_alike, milestone
from guides.topics import most_used
from guides.translation import reading
from guides.translation.reading import CHOICE, Reading, in_chosen_language
from guides.weeks import shown as weeks
from jobs import storage
from jobs.errors import StorageRefused

log = logging.getLogger(__name__)

GUIDES_PER_PAGE = 24
TOPICS = 10  # on home
SIGNED_SECONDS = 60 * 60
NOTHING_NEW = 204  # htmx leaves the page as it is
STOP_POLLING = 286
FOR_A_MINUTE = "public, max-age=60"  # a person may still ask for a new picture


def revision_of_home(request: HttpRequest) -> str:
    """Of the first page, which a crowd reads."""
    return "" if "page" in request.GET else revision.of_newest(GUIDES_PER_PAGE)


def revision_of_cards(request: HttpRequest) -> str:
    return revision.of_guides([plan_id for plan_id, _shown in asked_cards(request)])


@require_safe
@conditional_page
@kept(revision_of_home)
def home(request: HttpRequest) -> HttpResponse:
    newest = Guide.objects.published().order_by("-created_at", "plan_id")
    page = Paginator(newest, GUIDES_PER_PAGE).get_page(request.GET.get("page"))
    shown = find_cards([guide.pk for guide in page])
    is_first = page.number == 1
    week, topics = (weeks.latest(), most_used(TOPICS)) if is_first else (None, [])
    context = {"page": page, "cards": shown, "week": week, "topics": topics, **unfinished(shown)}
    return answer(request, "guides/home.html", context, "no-cache")


@require_safe
@never_cache
@kept(revision_of_cards, query=["card"])
def cards(request: HttpRequest) -> HttpResponse:
    """The cards that changed; the page stops polling when the response carries no URL."""
    asked = asked_cards(request)
    before = {plan_id: shown for plan_id, shown in asked if validators.is_plan_id(plan_id)}
    found = find_cards(list(before))
    more = unfinished(found)
    going = more["unfinished"]
    changed = [card for card in found if card.code != before[card.guide.pk]]
    gone = before.keys() - {card.guide.pk for card in found}
    if going and len(going) == len(before) and not changed:
        return HttpResponse(status=NOTHING_NEW)
    context = {"changed": changed, "gone": gone, **more}
    return render(request, "guides/cards.html", context, status=200 if going else STOP_POLLING)


def asked_cards(request: HttpRequest) -> list[tuple[str, str]]:
    """The id of each guide, and the code of the card that the page shows."""
    asked = [each.partition(".") for each in request.GET.getlist("card")[:GUIDES_PER_PAGE]]
    return [(plan_id, shown) for plan_id, _dot, shown in asked]


@require_safe
@conditional_page
@in_chosen_language
@kept(revision.of_guide, query=[CHOICE])
def guide(request: HttpRequest, plan_id: str) -> HttpResponse:
    shown = find_guide(plan_id)
    if shown.withdrawn_at:
        return gone(request)
    status = GuideStatus(plan_id, shown)
    read = Reading(shown, status.spots)
    painted = (spot for spot in status.spots if spot.srcset)
    context = {
        "guide": shown,
        "read": read,
        "address": read.address(request),
        "status": status,
        "cover": next(painted, None),
        "about": Truncator(" ".join(read.summary.words.split()) or describe(status)).chars(160),
    }
    keep = FOR_A_MINUTE if status.is_final else "private, no-cache"
    return answer(request, "guides/guide.html", context, keep)


def answer(request: HttpRequest, template: str, context: dict[str, Any], keep: str) -> HttpResponse:
    """Render a page. `keep` holds only for requests without cookies.

    Links for staff need a session's cookie, so a page that a shared cache keeps has none. Its ETag
    is made here, and so only once for all who get a kept page.
    """
    response = render(request, template, context)
    set_response_etag(response)
    response.headers["Cache-Control"] = keep if is_stranger(request) else "private, no-cache"
    patch_vary_headers(response, ["Cookie"])
    return response


@require_safe
@never_cache
@in_chosen_language
@kept(revision.of_guide, query=[CHOICE, "spots", "states", "left"], headers=["HX-Request"])
def images(request: HttpRequest, plan_id: str) -> HttpResponse:
    """What changed since the last poll; the page stops polling when the response has no URL."""
    status = find_status(plan_id)
    if status is None and "HX-Request" not in request.headers:
        find_guide(plan_id)
        return gone(request)
    if status is None or request.GET.get("spots") != status.fingerprint:
        # The guide is gone or withdrawn, or has other spots than the page: the page must reload.
        return HttpResponse(status=STOP_POLLING, headers={"HX-Refresh": "true"})
    length = CODE * status.total
    states = request.GET.get("states", "")[:length].ljust(length)
    is_same = states == status.states and request.GET.get("left") == status.left_code
    if is_same and not status.is_final:
        return HttpResponse(status=NOTHING_NEW)
    before = codes(states)
    now = zip(status.spots, before, strict=True)
    changed = [spot for spot, was in now if not looks_alike(was, code(spot))]
    if changed:
        reading.tell_all([(find_guide(plan_id), changed)])
    context = {
        "status": status,
        "changed": changed,
        "news": status.milestone != milestone(before),
    }
    http_status = STOP_POLLING if status.is_final else 200
    return render(request, "guides/images.html", context, status=http_status)


@require_safe
@never_cache
@in_chosen_language
def spot_image(request: HttpRequest, plan_id: str, spot_id: int) -> HttpResponse:
    shown = find_guide(plan_id)
    if shown.withdrawn_at:
        return gone(request)
    spot = get_object_or_404(SpotDetail.objects.with_jobs(), guide=plan_id, pk=spot_id)
    tell_later([spot])
    reading.tell_all([(shown, [spot])])
    return render(request, "guides/spot_image.html", {"spot": spot})


@require_safe
def favicon(request: HttpRequest) -> HttpResponse:
    """For browsers that ask for /favicon.ico without reading the page."""
    keep = {"Cache-Control": "public, max-age=86400"}  # a day: the target may change its name
    return HttpResponseRedirect(static("favicon.svg"), headers=keep)


@require_safe
def picture(request: HttpRequest, name: str) -> HttpResponseBase:
    """A picture's file, which never changes: its name is made from its content.

    With a bucket this redirects to the file, and does not check first that it exists: each
    picture would wait for the bucket twice, and this site would hang when the bucket does.
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


def describe(status: GuideStatus) -> str:
    """One line for a guide without a summary: its first spots."""
    return " · ".join(spot.said.name.words for spot in status.spots[:5])


def find_guide(plan_id: str) -> Guide:
    if not validators.is_plan_id(plan_id):
        raise Http404("No guide has such an id.")
    return get_object_or_404(Guide.objects.select_related("manuscript"), pk=plan_id)


def gone(request: HttpRequest) -> HttpResponse:
    text = _("It was here, but the people who wrote it took it back. It may return.")
    return errors.problem(request, 410, "withdrawn", _("This guide was withdrawn"), text)
