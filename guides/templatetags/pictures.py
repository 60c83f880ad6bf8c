"""Filters that make a spot's values safe for a page or a prompt."""

import json
import re

from django import template
from django.http import HttpRequest

from guides.validators import address

register = template.Library()
register.filter(address)

PREVIEW = re.compile(r"data:image/webp;base64,[A-Za-z0-9+/=]+")


@register.filter
def absolute(url: str, request: HttpRequest) -> str:
    """Add this site's host, for readers on other sites."""
    return request.build_absolute_uri(url) if url.startswith("/") else url


@register.filter
def preview(blur: str) -> str:
    """The tiny picture shown while the file loads; empty unless it is a plain data URL."""
    return blur if PREVIEW.fullmatch(blur) else ""


@register.filter
def quoted(text: object) -> str:
    """An author's words as quoted data, so that a prompt can't take them for instructions."""
    return json.dumps(text, ensure_ascii=False)
