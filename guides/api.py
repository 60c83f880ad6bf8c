"""For other systems: how far a guide is, and handing over a finished one."""

from pathlib import Path
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.views.decorators.csrf import csrf_exempt

from guides import answers, incoming, services
from guides.models import SpotDetail
from guides.status import GuideStatus, find_status
from guides.templatetags.pictures import absolute, address

DESCRIPTION = Path(__file__).parent / "openapi.json"


@csrf_exempt  # nothing is changed here: a POST shall hear that, and not of cookies
def guide_status(request: HttpRequest, plan_id: str) -> HttpResponseBase:
    if request.method not in ("GET", "HEAD"):
        return answers.not_allowed(request, ["GET", "HEAD"])
    found = find_status(plan_id)
    if found is None:
        return answers.not_found(f"There is no guide {plan_id[:120]!r}.")
    # Before the estimates, which take most of the queries.
    unchanged = get_conditional_response(request, etag=found.etag)
    answer = unchanged or answers.JsonAnswer(status_json(request, found))
    answer.headers["ETag"] = found.etag
    answer.headers["Cache-Control"] = "no-cache"  # keep it, but ask whether it is still true
    patch_vary_headers(answer, ["Accept-Language"])
    return answer


def status_json(request: HttpRequest, found: GuideStatus) -> dict[str, Any]:
    """All that strangers may know of a guide's pictures: no prompt, error, worker or cost."""
    return {
        "plan_id": found.plan_id,
        "final": found.is_final,
        "percent": found.percent,
        "counts": {
            "total": found.total,
            **{state: found.states.count(state[0]) for state in STATES},
        },
        "seconds_expected": found.seconds,
        "poll_after_seconds": found.poll_after,
        "spots": [spot_json(request, found, spot) for spot in found.spots],
    }


STATES = ("ready", "loading", "failed", "none")


def spot_json(request: HttpRequest, found: GuideStatus, spot: SpotDetail) -> dict[str, Any]:
    estimate = found.estimates.get(spot.spot_name)
    shown = address(spot.image_url)
    widths = (pair.split() for pair in spot.srcset.split(", ") if pair)
    return {
        "id": spot.pk,
        "name": spot.spot_name,
        "picture_state": spot.picture_state,
        "image_status": spot.image_status,
        "image_url": absolute(shown, request) if shown else None,
        "widths": [
            {"width": int(width[:-1]), "url": absolute(url, request)} for url, width in widths
        ],
        "waits_for": wait_json(found, spot.spot_name),
        "seconds_expected": estimate and estimate.seconds,
    }


def wait_json(found: GuideStatus, spot_name: str) -> dict[str, Any] | None:
    wait = found.waits.get(spot_name)
    if wait is None:
        return None
    return {
        "reason": wait.reason,
        "text": wait.text,
        "until": wait.until,
        "position": found.estimates[spot_name].position,
    }


@csrf_exempt  # a token is no cookie: no other site can make a browser send it
def guides(request: HttpRequest) -> HttpResponseBase:
    """Take over a finished guide. The same again changes nothing."""
    if request.method != "POST":
        return answers.not_allowed(request, ["POST"])
    if not incoming.is_open():
        return answers.refusal(403, "closed", "API_TOKEN is not set: nothing is taken over here.")
    if not incoming.is_known(request):
        answer = answers.refusal(401, "unauthorized", "The header must be: Bearer <API_TOKEN>.")
        answer.headers["WWW-Authenticate"] = "Bearer"
        return answer
    try:
        guide, spots = incoming.read_guide(request)
    except incoming.Refused as refused:
        return answers.refusal(refused.status, refused.code, refused.text, refused.fields)
    result = services.put_guide(guide, spots)
    return answers.JsonAnswer(
        {
            "plan_id": guide.plan_id,
            "result": result.change,
            "pictures_asked_for": result.asked,
            "url": request.build_absolute_uri(guide.get_absolute_url()),
            "status_url": request.build_absolute_uri(reverse("guide_status", args=[guide.plan_id])),
        },
        status=201 if result.change == "created" else 200,
    )


@csrf_exempt
def description(request: HttpRequest) -> HttpResponseBase:
    if request.method not in ("GET", "HEAD"):
        return answers.not_allowed(request, ["GET", "HEAD"])
    return HttpResponse(
        DESCRIPTION.read_bytes(),
        content_type="application/json",
        headers={"Cache-Control": "public, max-age=3600"},
    )


@csrf_exempt
def nothing(request: HttpRequest, path: str = "") -> HttpResponseBase:
    return answers.not_found(f"There is nothing at {request.path[:200]!r}.")
