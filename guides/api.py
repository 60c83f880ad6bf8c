"""For other systems: read the progress of a guide or process, and hand over a finished guide."""

from functools import partial
from pathlib import Path
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseNotModified
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.http import parse_etags
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt

from config.doors import tokens
from config.doors.models import ApiToken
from config.kept import kept
from guides import incoming, replies, revision, services, validators
from guides.bodies import Refused
from guides.models import Guide, SpotDetail
from guides.status import GuideStatus, find_status
from guides.templatetags.pictures import absolute
from guides.translation.reading import CHOICE, Reading, chosen, in_chosen_language
from guides.writing import asking
from guides.writing_status import WritingStatus
from jobs import queue
from jobs.paid.waiting import Reason

DESCRIPTION = Path(__file__).parent / "openapi.json"


@csrf_exempt  # a POST gets 405 here, not an error about cookies
@in_chosen_language
@kept(revision.of_guide, query=[CHOICE], headers=["If-None-Match"])
def guide_status(request: HttpRequest, plan_id: str) -> HttpResponseBase:
    if request.method not in ("GET", "HEAD"):
        return replies.not_allowed(request, ["GET", "HEAD"])
    found = find_status(plan_id)
    if found is None and is_withdrawn(plan_id):
        text = _("The guide %(id)s was withdrawn.") % {"id": replies.shown(plan_id)}
        return replies.refusal(410, "withdrawn", text)
    if found is None:
        return replies.not_found(_("There is no guide %(id)s.") % {"id": replies.shown(plan_id)})
    texts = texts_json(request, found)
    etag = found.etag_with(texts)
    # Checked before the estimates, which take most of the queries.
    if has_already(request, etag):
        reply: HttpResponse = HttpResponseNotModified()
    else:
        reply = replies.JsonReply(status_json(request, found, texts))
    reply.headers["ETag"] = etag
    reply.headers["Cache-Control"] = "no-cache"  # may be stored, but must be revalidated
    patch_vary_headers(reply, ["Accept-Language"])
    return reply


def is_withdrawn(plan_id: str) -> bool:
    is_plan_id = validators.is_plan_id(plan_id)
    return is_plan_id and Guide.objects.withdrawn().filter(pk=plan_id).exists()


def has_already(request: HttpRequest, etag: str) -> bool:
    """Whether If-None-Match names this etag (weak comparison); a read needs no other condition."""
    named = parse_etags(request.headers.get("If-None-Match", ""))
    return "*" in named or etag.removeprefix("W/") in [each.removeprefix("W/") for each in named]


def texts_json(request: HttpRequest, found: GuideStatus) -> dict[str, Any]:
    """The languages of a guide, and the names of its spots in the one that was asked for."""
    guide = Guide.objects.filter(pk=found.plan_id).first()
    if guide is None:  # deleted at this moment
        return {"languages": [], "names": {}}
    read = Reading(guide, found.spots)
    return {
        "languages": [
            {
                "code": sheet.language,
                "original": sheet.is_original,
                "texts": sheet.total,
                "translated": sheet.translated,
            }
            for sheet in read.sheets.values()
        ],
        "names": {str(spot.pk): spot.said.name.words for spot in found.spots if chosen(request)},
    }


def status_json(request: HttpRequest, found: GuideStatus, texts: dict[str, Any]) -> dict[str, Any]:
    """Everything the public may know about a guide's pictures: no prompt, error, worker or cost."""
    return {
        "plan_id": found.plan_id,
        "final": found.is_final,
        "percent": found.percent,
        "counts": {
            "total": found.total,
            **{state: found.counts[state] for state in STATES},
        },
        "seconds_expected": found.seconds,
        "poll_after_seconds": found.poll_after,
        "languages": texts["languages"],
        "writing": writing_json(found.writing) if found.writing else None,
        "spots": [
            spot_json(request, found, spot)
            | {"name": texts["names"].get(str(spot.pk), spot.spot_name)}
            for spot in found.spots
        ],
    }


def writing_json(writing: WritingStatus) -> dict[str, Any]:
    return {
        "state": writing.state,
        "text": writing.words,
        "texts": {"total": writing.total, "ready": writing.ready},
        "coming": writing.coming,
        "delay": writing.delay or None,
    }


STATES = ("ready", "loading", "failed", "none")


def spot_json(request: HttpRequest, found: GuideStatus, spot: SpotDetail) -> dict[str, Any]:
    estimate = found.estimates.get(spot.spot_name)
    widths = (pair.split() for pair in spot.srcset.split(", ") if pair)
    return {
        "id": spot.pk,
        "name": spot.spot_name,
        "picture_state": spot.picture_state,
        "image_status": spot.image_status,
        "image_url": absolute(spot.shown_url, request) if spot.shown_url else None,
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
        "text": batch_text(found, spot_name) if wait.reason == Reason.BATCH else wait.text,
        "until": wait.until,
        "position": found.estimates[spot_name].position,
    }


def batch_text(found: GuideStatus, spot_name: str) -> str:
    if found.later[spot_name] == "late":
        return _("it takes longer than a day this time")
    return _("arrives by tomorrow")


@csrf_exempt  # authorized by a token: unlike a cookie, no other site can make a browser send it
@queue.repeated
def hand_over(request: HttpRequest) -> HttpResponseBase:
    """Accept a guide, or the wish for one. Sending the same again changes nothing."""
    if request.method != "POST":
        return replies.not_allowed(request, ["POST"])
    if not tokens.is_open():
        return replies.refusal(403, "closed", _("There is no token: this site accepts no guides."))
    token = tokens.find(request)
    if token is None:
        return refuse_token(request)
    try:
        taken = incoming.read_guide(request)
    except Refused as refused:
        return replies.refusal(refused.status, refused.code, refused.text, refused.fields)
    guide = taken.guide
    try:
        result = take(taken, token)
    except asking.AlreadyThere:
        text = _("There is a guide %(id)s already, and it is another one.")
        return replies.refusal(409, "exists", text % {"id": replies.shown(guide.plan_id)})
    except tokens.TooManyPictures as too_many:
        is_revoked = tokens.find(request) is None  # during this request
        return refuse_token(request) if is_revoked else refuse_pictures(too_many)
    url = request.build_absolute_uri(guide.get_absolute_url())
    is_new = result.change == "created"
    return replies.JsonReply(
        {
            "plan_id": guide.plan_id,
            "result": result.change,
            "pictures_asked_for": result.asked,
            "url": url,
            "status_url": request.build_absolute_uri(reverse("guide_status", args=[guide.plan_id])),
        },
        status=201 if is_new else 200,
        headers={"Location": url} if is_new else None,
    )


def take(taken: incoming.Incoming, token: ApiToken) -> services.Handover:
    """Save a guide, or let it be written."""
    if taken.wish:
        book = partial(tokens.spend, token)
        change = asking.write_guide(taken.guide, taken.wish, by=f"token {token.name}", book=book)
        return services.Handover(change, taken.wish.spots if change == "created" else 0)

    def book_and_forget(pictures: int) -> None:
        """In the transaction that saves it: a guide that is handed over is not written any more."""
        tokens.spend(token, pictures)
        asking.forget(taken.guide.plan_id)

    return services.put_guide(taken.guide, taken.spots, book_and_forget, keep=taken.keep)


def refuse_pictures(too_many: tokens.TooManyPictures) -> HttpResponseBase:
    if too_many.asked > too_many.most:  # on any day
        text = _(
            "This guide needs %(asked)d new pictures, and this token may ask for %(most)d a day. "
            "Hand over fewer new spots at a time."
        )
        text %= {"asked": too_many.asked, "most": too_many.most}
        return replies.refusal(403, "too_many_pictures", text)
    text = _("This token may ask for %(most)d pictures a day. Nothing of this guide was saved.")
    return replies.later(too_many.seconds, "too_many_pictures", text % {"most": too_many.most})


def refuse_token(request: HttpRequest) -> HttpResponseBase:
    if wait := tokens.wait_after_wrong(request):
        text = _("This address sent too many wrong tokens.")
        return replies.later(wait.total_seconds(), "too_many_requests", text)
    reply = replies.refusal(401, "unauthorized", _("The header must be: Bearer <token>."))
    reply.headers["WWW-Authenticate"] = "Bearer"
    return reply


@csrf_exempt
def description(request: HttpRequest) -> HttpResponseBase:
    if request.method not in ("GET", "HEAD"):
        return replies.not_allowed(request, ["GET", "HEAD"])
    return HttpResponse(
        DESCRIPTION.read_bytes(),
        content_type="application/json",
        headers={"Cache-Control": "public, max-age=3600"},
    )


@csrf_exempt
def nothing(request: HttpRequest, path: str = "") -> HttpResponseBase:
    text = _("There is nothing at %(path)s.") % {"path": replies.shown(request.path)}
    return replies.not_found(text)
