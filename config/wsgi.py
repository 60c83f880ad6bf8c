import os
from contextlib import suppress
from typing import Any

import django
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest

from config import probes

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")


class Request(WSGIRequest):
    """A request that survives every charset; `config.charsets` refuses it later, with a page."""

    def _set_content_type_params(self, meta: dict[str, Any]) -> None:
        self.content_type, self.content_params = "", {}  # of a header that can't be read
        with suppress(LookupError, ValueError):  # some codecs of Python decode no text
            super()._set_content_type_params(meta)  # type: ignore[misc]


class Application(WSGIHandler):
    request_class = Request

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        reply = probes.answer(environ, start_response)
        return super().__call__(environ, start_response) if reply is None else reply


django.setup(set_prefix=False)
application = Application()
