"""Which versions of their rows the guides of a page have now, told by one short query.

PostgreSQL names every version of a row: by the transaction that wrote it (xmin) and by its place
(ctid). So a change by anybody is seen as soon as it is committed, plain SQL included, and nothing
has to be written for it. The function is in migration 0022. SQLite names no versions.

A revision differs whenever a row of the guides was added, changed or deleted: of their texts,
spots, picture jobs, manuscripts and translations. Not if the clock went on, nor with other rows,
such as those of workers and providers. Empty: nobody knows.
"""

from collections.abc import Sequence

from django.db import connection

from guides import validators

OF_THESE = "SELECT guides_revision(%s)"
OF_NEWEST = (
    "SELECT guides_revision(ARRAY(SELECT plan_id::text FROM guides WHERE withdrawn_at IS NULL"
    " ORDER BY created_at DESC, plan_id LIMIT %s))"
)


def of_guides(plan_ids: Sequence[str]) -> str:
    are_good = all(validators.is_plan_id(plan_id) for plan_id in plan_ids)
    return read(OF_THESE, list(plan_ids)) if are_good else ""


def of_newest(count: int) -> str:
    """Of the newest published guides."""
    return read(OF_NEWEST, count)


def read(query: str, argument: int | list[str]) -> str:
    if connection.vendor != "postgresql":
        return ""
    with connection.cursor() as cursor:
        cursor.execute(query, [argument])
        return str(cursor.fetchone()[0])
