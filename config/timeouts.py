"""A time limit for every statement of a web request, so that no page can keep the database busy."""

import logging
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.db import connection
from django.http import HttpRequest, HttpResponse
from psycopg.pq import TransactionStatus

from config import errors
from jobs.db import faults, sessions

log = logging.getLogger(__name__)


class Middleware:
    """Limits the statements of web requests alone; workers and commands have limits of their own.

    A page that the database keeps waiting is answered with 503.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if connection.vendor != "postgresql" or not settings.WEB_STATEMENT_TIMEOUT:
            return self.get_response(request)
        with connection.execute_wrapper(limited):
            return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not faults.is_in_the_way(error):
            return None
        log.warning("The database kept %s waiting: %s", ascii(request.path[:200]), error)
        return errors.busy(request)


def limited(
    execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: dict[str, Any]
) -> Any:
    """Send the limit along with the first statement of a transaction.

    Both travel in one message, which is one transaction, so it costs no round trip. SET LOCAL
    ends with the transaction: behind a transaction pooler no other client inherits the limit.
    A transaction with a limit of its own, such as `sessions.short_transaction`, keeps that.
    """
    status = context["connection"].connection.info.transaction_status
    is_first = status == TransactionStatus.IDLE and not sessions.are_limited()
    if not (is_first and sessions.can_follow(sql, many, context)):
        return execute(sql, params, many, context)
    milliseconds = int(settings.WEB_STATEMENT_TIMEOUT * 1000)
    first = f"SET LOCAL statement_timeout = {milliseconds}"
    return sessions.send_after(first, execute, sql, params, many, context)
