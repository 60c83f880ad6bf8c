"""Times that PostgreSQL sends: Python's own C code reads them in a tenth of psycopg's time."""

from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import Any


def prepare(connection: Any, **_: object) -> None:
    """Called for every connection that Django opens, or gets from its pool."""
    if connection.vendor == "postgresql" and connection.timezone == UTC:
        connection.connection.adapters.register_loader("timestamptz", _loader())


@cache
def _loader() -> type[Any]:
    # A project on SQLite may not have psycopg.
    from django.db.backends.postgresql.psycopg_any import BaseTzLoader

    class Loader(BaseTzLoader):  # type: ignore[misc]
        timezone = UTC

        def load(self, data: Any) -> Any:
            return read(bytes(data)) or super().load(data)

    return Loader


@lru_cache(maxsize=1_000)  # jobs that are claimed together have most of their times in common
def read(data: bytes) -> datetime | None:
    """The moment in UTC; None for what Python's C code can't read."""
    try:
        moment = datetime.fromisoformat(str(data, "ascii"))
    except ValueError:  # before the year 1, after 9999, infinity
        return None
    # The code that runs here may have set another zone in its session.
    return moment if moment.tzinfo is UTC else None
