"""Times that PostgreSQL sends: Python's own C code reads them in a tenth of psycopg's time."""

from datetime import UTC, datetime
from functools import cache
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
            try:
                moment = datetime.fromisoformat(str(data, "ascii"))
            except ValueError:  # before the year 1, after 9999, infinity
                return super().load(data)
            # The code that runs here may have set another zone in its session.
            return moment if moment.tzinfo is UTC else super().load(data)

    return Loader
