"""Refuses forms that are not UTF-8 before anything reads them.

Django reads a form first while it checks for forgery, and does so again for its error pages: they
would fail with the form.
"""

import codecs
from collections.abc import Callable

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from config import errors

FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
UTF_8 = "utf-8"


def middleware(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    def refuse_others(request: HttpRequest) -> HttpResponse:
        if request.encoding:
            if request.content_type in FORMS and codecs.lookup(request.encoding).name != UTF_8:
                return errors.bad_request(request, BadRequest(_("A form must be sent in UTF-8.")))
            request.encoding = UTF_8  # of the address too, whatever the body is
        return get_response(request)

    return refuse_others
