"""Content-Security-Policy: what a page may load, and from where."""

from collections.abc import Callable
from functools import cache
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

Policy = dict[str, str]

VISITORS: Policy = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",  # style attributes are forbidden too, so a spot's colours are SVG
    # Pictures may be anywhere: `image_url` can be any web address. The preview is a data: URL.
    "img-src": "'self' data: http: https:",
    "connect-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}

# Unfold's Alpine evaluates the expressions in its templates and writes style attributes.
OPERATORS: Policy = {
    **VISITORS,
    "script-src": "'self' 'unsafe-eval'",
    "style-src": "'self' 'unsafe-inline'",
    "font-src": "'self'",
    "img-src": "'self' data:",  # the admin shows only our own pictures
}


def middleware(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    def add_policy(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        # Django's debug pages use inline scripts and styles.
        if not (settings.DEBUG and response.status_code in (404, 500)):
            response.headers.setdefault("Content-Security-Policy", policy_for(request.path))
        return response

    return add_policy


def policy_for(path: str) -> str:
    if not path.startswith(admin()):
        return FOR_VISITORS
    pictures = " ".join([OPERATORS["img-src"], *picture_origins()])
    return as_header({**OPERATORS, "img-src": pictures})


@cache  # asked for every response
def admin() -> str:
    return reverse("admin:index")


def as_header(policy: Policy) -> str:
    return "; ".join(f"{name} {sources}" for name, sources in policy.items())


FOR_VISITORS = as_header(VISITORS)


def picture_origins() -> list[str]:
    """The origins of our own pictures, besides this site."""
    if settings.S3_PUBLIC_URL:
        return [origin(settings.S3_PUBLIC_URL)]
    if settings.S3_BUCKET:  # pictures have signed URLs, on the bucket's host
        return [origin(settings.S3_ENDPOINT_URL)] if settings.S3_ENDPOINT_URL else ["https:"]
    return []


def origin(url: str) -> str:
    address = urlsplit(url)
    return f"{address.scheme}://{address.netloc}"
