"""Pages that renew themselves: an open page asks for its live parts, and gets only those.

A live part of a template stands between two marks, in an element with a `data-live` name.
"""

import hashlib
import re
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

ASKS = "X-Renew"  # the header of such a request
PART = re.compile(r"<!-- live -->(.*?)<!-- /live -->", re.DOTALL)
# What differs each time although nothing has changed: the tokens of forms, and the clock.
VOLATILE = re.compile(r'name="csrfmiddlewaretoken" value="\w+"|data-clock>[^<]*<')


def answer(request: HttpRequest, response: Any) -> Any:
    """The live parts of a page, if the request asks for those; else the page."""
    if ASKS not in request.headers or not isinstance(response, TemplateResponse):
        return response
    # Messages wait for a page that shows them.
    response.context_data = {**(response.context_data or {}), "messages": []}
    return unless_same(request, "\n".join(PART.findall(response.rendered_content)))


def unless_same(request: HttpRequest, page: str) -> HttpResponse:
    """This part of a page; 304 if the open page has it already."""
    lasting = VOLATILE.sub("", page)
    etag = f'"{hashlib.sha256(lasting.encode()).hexdigest()[:32]}"'
    if request.headers.get("If-None-Match") == etag:
        response = HttpResponse(status=304)
    else:
        response = HttpResponse(page)
    response["ETag"] = etag
    response["Cache-Control"] = "private, no-cache"
    return response
