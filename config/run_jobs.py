"""POST /internal/run-jobs/: work for a while, where no worker may stay (docs/servers.md)."""

import math
import re
import secrets
import time
from contextlib import suppress
from datetime import timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import Error
from django.http import Http404, HttpRequest, HttpResponseBase
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt

from config import next_request
from config.doors import tokens
from config.next_request import LINK, PATH, SECRET
from guides import replies
from guides.bodies import Refused
from jobs.models import Outcome
from jobs.worker import ahead, chain, stint
from jobs.worker.ahead import Ahead
from jobs.worker.stint import Report

USUAL_SECONDS, MOST_SECONDS = 28, 50  # within a host's limit of 30 s; within gunicorn's of 60 s
MOST_JOBS = 10_000
SHORTEST_PAUSE = timedelta(seconds=1)  # after a request that ended no job


class Asked(NamedTuple):
    """What the caller wants, from the query."""

    seconds: int = USUAL_SECONDS
    jobs: float = math.inf
    chain: bool = False


@csrf_exempt  # authorized by a secret: unlike a cookie, no other site can make a browser send it
def run_jobs(request: HttpRequest) -> HttpResponseBase:
    if not settings.INTERNAL_SECRET:  # closed: an empty secret would let everyone in
        raise Http404
    if request.method != "POST":
        return replies.not_allowed(request, ["POST"])
    if not is_known(request):
        return refuse_secret(request)
    try:
        asked = read(request)
        return replies.JsonReply(answer(asked, request.headers.get(LINK, "")))
    except Refused as refused:
        return replies.refusal(refused.status, refused.code, refused.text)
    except (ImproperlyConfigured, stint.NoThreads, stint.Blocked) as error:
        return replies.refusal(503, "unavailable", str(error))


def is_known(request: HttpRequest) -> bool:
    # Compared as bytes: texts with other letters than ASCII can't be compared in constant time.
    sent = request.headers.get(SECRET, "").encode("latin-1", "replace")  # as it came
    return secrets.compare_digest(sent, settings.INTERNAL_SECRET.encode())


def refuse_secret(request: HttpRequest) -> HttpResponseBase:
    if wait := tokens.wait_after_wrong(request):
        text = _("This address sent too many wrong secrets.")
        return replies.later(wait.total_seconds(), "too_many_requests", text)
    text = _("The header %(name)s must hold this site’s INTERNAL_SECRET.") % {"name": SECRET}
    return replies.refusal(403, "forbidden", text)


# What is asked for


def read(request: HttpRequest) -> Asked:
    """Raises Refused for nonsense: a wrong bound must not become none."""
    query = request.GET
    for name in query:
        if name not in Asked._fields or len(query.getlist(name)) > 1:
            text = _("%(name)s: only %(known)s can be asked for, each once.")
            known = ", ".join(Asked._fields)
            raise Refused(400, "invalid", text % {"name": replies.shown(name), "known": known})
    given: dict[str, Any] = {}
    if "seconds" in query:
        given["seconds"] = number("seconds", query["seconds"], MOST_SECONDS)
    if "jobs" in query:
        given["jobs"] = number("jobs", query["jobs"], MOST_JOBS)
    if "chain" in query:
        given["chain"] = switch("chain", query["chain"])
    if given.get("chain") and not settings.SITE_URL:
        text = _("Set SITE_URL: a chain calls this site by its own address.")
        raise Refused(400, "no_address", text)
    return Asked(**given)


def number(name: str, text: str, most: int) -> int:
    if re.fullmatch(r"[0-9]{1,6}", text) and 1 <= int(text) <= most:
        return int(text)
    why = _("%(name)s=%(value)s: it must be a whole number from 1 to %(most)d.")
    why %= {"name": name, "value": replies.shown(text), "most": most}
    raise Refused(400, "invalid", why)


def switch(name: str, text: str) -> bool:
    if text in ("true", "false"):
        return text == "true"
    why = _("%(name)s=%(value)s: it must be true or false.")
    raise Refused(400, "invalid", why % {"name": name, "value": replies.shown(text)})


# Work, and hand the chain on


def answer(asked: Asked, link: str) -> dict[str, Any]:
    """Work as asked, for the caller or for the chain whose last request sent this link."""
    ends_at = time.monotonic() + asked.seconds
    if not link:
        return work(asked, ends_at, None)
    token = chain.go_on(link, asked.seconds)
    if token is None:  # this request arrived twice, or too late
        return {"busy": False, "claimed": 0, "chain": "gone"}
    try:
        return work(asked, ends_at, token)
    except BaseException:
        with suppress(Error):
            chain.end(token)
        raise


def work(asked: Asked, ends_at: float, token: str | None) -> dict[str, Any]:
    way = f"{PATH} (chain)" if token else PATH
    # The chain's own request waits for another one to end: if it gave up, the chain would end.
    patience = asked.seconds if token else 0
    try:
        report = stint.work(asked.seconds, asked.jobs, way, patience=patience)
    except stint.Busy:
        return {"busy": True, "claimed": 0, "chain": end(token) if token else None}
    left = ahead.look(asked.seconds)
    state = hand_on(asked, ends_at, token, report, left) if asked.chain or token else None
    return described(report, left, state)


def described(report: Report, left: Ahead, state: str | None) -> dict[str, Any]:
    return {
        "busy": False,
        "claimed": report.claimed,
        **{outcome.value: report.outcomes[outcome] for outcome in Outcome},
        "more": left.is_due,
        "next_at": left.next_at,
        "too_slow": left.too_slow,
        "chain": state,
    }


def hand_on(asked: Asked, ends_at: float, token: str | None, report: Report, left: Ahead) -> str:
    """Call the next request of the chain if a job will start within its time; returns the state."""
    wait = left.wait()
    if wait is None or wait > timedelta(seconds=asked.seconds):
        return end(token)
    token = token or chain.begin(asked.seconds)
    if token is None:
        return "elsewhere"
    pause(max(wait, SHORTEST_PAUSE) if report.is_idle else wait, ends_at)
    if not chain.may_go_on(token, is_idle=report.is_idle):
        return end(token)
    return next_request.call(token, asked.seconds, asked.jobs)


def end(token: str | None) -> str:
    if token:
        chain.end(token)
    return "ended"


def pause(wait: timedelta, ends_at: float) -> None:
    """Wait until the next job is due, but not beyond the time of this request."""
    time.sleep(max(0.0, min(wait.total_seconds(), ends_at - time.monotonic())))
