"""For other systems: how far a process is."""

import hashlib
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponseBase, HttpResponseNotModified
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt

from config.doors import tokens
from guides import replies
from guides.api import has_already, refuse_token
from jobs.models import Process


@csrf_exempt
def process(request: HttpRequest, id: str) -> HttpResponseBase:
    """How far a process is, for staff and for callers with a token."""
    if request.method not in ("GET", "HEAD"):
        return replies.not_allowed(request, ["GET", "HEAD"])
    if refused := refuse_reader(request):
        return refused
    found = find_process(id)
    if found is None:
        return replies.not_found(_("There is no process %(id)s.") % {"id": replies.shown(id)})
    data = process_json(found)
    etag = f'W/"{hashlib.sha256(repr(data).encode()).hexdigest()[:32]}"'
    same = has_already(request, etag)
    reply = HttpResponseNotModified() if same else replies.JsonReply(data)
    reply.headers["ETag"] = etag
    reply.headers["Cache-Control"] = "private, no-cache"
    patch_vary_headers(reply, ["Authorization"])
    return reply


def refuse_reader(request: HttpRequest) -> HttpResponseBase | None:
    """None for staff, who may be logged in, and for the right token."""
    if request.user.is_staff:
        return None
    if not tokens.is_open():
        text = _("There is no token: only staff may read this.")
        return replies.refusal(403, "closed", text)
    token = tokens.find(request)
    if token is None:
        return refuse_token(request)
    tokens.booked(token, pictures=0)  # for its "last used"
    return None


def find_process(id: str) -> Process | None:
    try:
        return Process.objects.filter(pk=UUID(id)).first()
    except ValueError:
        return None


def process_json(found: Process) -> dict[str, Any]:
    """Counts and times: nothing of what its jobs ask, answer or cost."""
    return {
        "id": str(found.pk),
        "label": found.label,
        "total": found.total,
        "open": found.open,
        "succeeded": found.succeeded,
        "failed": found.failed,
        "canceled": found.canceled,
        "percent": found.percent,
        "state": "ended" if found.ended_at else "open",
        "started": found.created_at,
        "ended": found.ended_at,
    }
