"""Filters that make a spot's values safe for a page or a prompt."""

import json
import re

from django import template
from django.conf import settings
from django.http import HttpRequest
from django.http.request import split_domain_port
from django.utils.http import is_same_domain

from guides.topics import tags
from guides.validators import address

register = template.Library()
register.filter(address)
register.filter("topic_address", tags.address)

PREVIEW = re.compile(r"data:image/webp;base64,[A-Za-z0-9+/=]+")


@register.filter
def absolute(url: str, request: HttpRequest) -> str:
    """Add this site's host, for readers on other sites."""
    return f"{request.scheme}://{site_host(request)}{url}" if url.startswith("/") else url


def site_host(request: HttpRequest) -> str:
    """The host that the client named, without a port that only this client knows.

    A cache may keep the page for other visitors, so its links must lead them to this site.
    """
    host = request.get_host().lower()
    name, port = split_domain_port(host)
    is_ours = not settings.TRUST_PROXY and port == request.META["SERVER_PORT"]
    if not port or is_ours or any(is_same_domain(host, ours) for ours in settings.HOSTS_WITH_PORT):
        return host
    return name


@register.filter
def preview(blur: str) -> str:
    """The tiny picture shown while the file loads; empty unless it is a plain data URL."""
    return blur if PREVIEW.fullmatch(blur) else ""


@register.filter
def quoted(text: object) -> str:
    """An author's words as quoted data, so that a prompt can't take them for instructions."""
    return json.dumps(text, ensure_ascii=False)
