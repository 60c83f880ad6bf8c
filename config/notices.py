"""What the site says to programs that ask before they act: crawlers, and finders of holes."""

from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

ROBOTS = """\
User-agent: *
Disallow: /admin/
Disallow: /api/
Disallow: /guides/new/
Disallow: /guides/*/images/
Disallow: /guides/*/spots/
Disallow: /cards/
"""
VALID_DAYS = 90


@require_safe
@cache_control(public=True, max_age=86400)
def robots(request: HttpRequest) -> HttpResponse:
    return HttpResponse(ROBOTS, content_type="text/plain; charset=utf-8")


@require_safe
@cache_control(public=True, max_age=86400)
def security(request: HttpRequest) -> HttpResponse:
    """Where to report a hole, as RFC 9116 has it."""
    if not settings.SECURITY_CONTACT:
        raise Http404("SECURITY_CONTACT is not set.")
    expires = datetime.now(UTC) + timedelta(days=VALID_DAYS)
    lines = [
        f"Contact: {settings.SECURITY_CONTACT}",
        f"Expires: {expires:%Y-%m-%dT00:00:00Z}",
        "Preferred-Languages: en, ja",
    ]
    return HttpResponse("\n".join(lines) + "\n", content_type="text/plain; charset=utf-8")
