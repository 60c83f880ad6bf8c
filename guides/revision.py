"""A text that changes whenever a row of these guides changes, by one short query.

PostgreSQL names every version of a row: by the transaction that wrote it (xmin) and by its place
(ctid). So a change by anybody is seen as soon as it is committed, plain SQL included, and nothing
has to be written for it. The function is in migration 0022. SQLite names no versions.

A revision differs whenever a row of the guides was added, changed or deleted: of their texts,
spots, picture jobs, manuscripts and translations. Not if the clock went on, nor with other rows,
such as those of workers and providers. Empty, where there is none: keep nothing.
"""

import logging
from collections.abc import Sequence
from functools import cache

from django.db import Error, ProgrammingError, connection
from django.http import HttpRequest

from guides import validators

log = logging.getLogger(__name__)

# The ids as one text (none has a space): psycopg takes long to send a list.
OF_THESE = "SELECT guides_revision(string_to_array(%s, ' '))"
OF_NEWEST = (
    "SELECT guides_revision(ARRAY(SELECT plan_id::text FROM guides WHERE withdrawn_at IS NULL"
    " ORDER BY created_at DESC, plan_id LIMIT %s))"
)


def of_guide(_request: HttpRequest, plan_id: str) -> str:
    return of_guides([plan_id])


def of_guides(plan_ids: Sequence[str]) -> str:
    are_good = all(validators.is_plan_id(plan_id) for plan_id in plan_ids)
    return read(OF_THESE, " ".join(plan_ids)) if are_good else ""


def of_newest(count: int) -> str:
    """Of the newest published guides."""
    return read(OF_NEWEST, count)


def read(query: str, argument: int | str) -> str:
    """Ask without a health check of the connection, which would cost as much as the query.

    A connection that was lost since the last request shows it now, and a new one is asked.
    """
    if connection.vendor != "postgresql":
        return ""
    connection.health_check_done = True  # type: ignore[attr-defined]
    try:
        return fetch(query, argument)
    except Error as error:
        if connection.connection is None or connection.in_atomic_block:
            raise
        if isinstance(error, ProgrammingError):
            tell_once()
            return ""
        if connection.is_usable():
            raise
    connection.close()
    return fetch(query, argument)


@cache
def tell_once() -> None:
    log.warning("No page is kept: the database has no function guides_revision. Run `migrate`.")


def fetch(query: str, argument: int | str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(query, [argument])
        return str(cursor.fetchone()[0])
