"""What every connection to PostgreSQL does when servers change places, or a standby is lost."""

import logging
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from django.db import Error

from jobs.db import faults

if TYPE_CHECKING:
    from psycopg.errors import Diagnostic

log = logging.getLogger(__name__)

# The wait of a COMMIT for its standby was canceled, or ended with its session.
NOT_REPLICATED = {"01000", "57P01"}


def prepare(connection: Any, **_: object) -> None:
    """Called for every connection that Django opens, or gets from its pool."""
    if connection.vendor != "postgresql":
        return
    if leave_standby not in connection.execute_wrappers:
        # Not at the end: that one is removed when a block of `execute_wrapper()` ends.
        connection.execute_wrappers.insert(0, leave_standby)
    session = connection.connection
    with suppress(ValueError):  # it came from the pool, and was prepared before
        session.remove_notice_handler(log_warning)
    session.add_notice_handler(log_warning)


def leave_standby(
    execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: dict[str, Any]
) -> Any:
    """Close a session whose server has become a standby: a new one may find the primary."""
    try:
        return execute(sql, params, many, context)
    except Error as error:
        if faults.is_read_only(error):
            context["connection"].connection.close()
        raise


def log_warning(notice: "Diagnostic") -> None:
    """Say that a transaction was committed, but that a failover may lose it."""
    # A server that stops says 57P01 to every session, but without a detail.
    if notice.sqlstate in NOT_REPLICATED and notice.message_detail:
        log.warning("PostgreSQL: %s (%s)", notice.message_primary, notice.message_detail)
