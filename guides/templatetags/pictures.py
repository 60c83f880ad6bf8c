"""What of a spot may go into a page, or into a prompt, as it is."""

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
    """With the name of this site, for those who read it elsewhere."""
    return request.build_absolute_uri(url) if url.startswith("/") else url


@register.filter
def preview(blur: str) -> str:
    """The tiny picture shown while the file loads; empty if it could say more in CSS."""
    return blur if PREVIEW.fullmatch(blur) else ""


@register.filter
def quoted(text: object) -> str:
    """Somebody's words as data, so that they can't pass for ours."""
    return json.dumps(text, ensure_ascii=False)
