"""Conditions that Django's own lookups don't offer."""

import json
from collections.abc import Iterable
from enum import Enum
from typing import Any
from uuid import UUID

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Func, Lookup, TextField
from django.db.models.sql.compiler import SQLCompiler


class Blank(Enum):
    """What a compiled statement has in place of a value that is only known when it is sent."""

    IDS = "a list of ids"
    NUMBER = "how many rows"
    EPOCH = "an epoch"
    WORKER = "the name of a worker"


def as_list(ids: Iterable[UUID], connection: BaseDatabaseWrapper) -> str:
    """The parameter for a list of ids."""
    if connection.vendor == "sqlite":
        return json.dumps([id.hex for id in ids])
    # As text: psycopg takes several times as long to adapt a list of UUIDs.
    return "{" + ",".join([id.hex for id in ids]) + "}"


class AnyOf(Lookup):
    """A UUID is one of many: like IN, but the list is one parameter, however long it is.

    It may also be a query for the ids, which PostgreSQL then answers before it looks for them.
    """

    prepare_rhs = False

    def as_sql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper
    ) -> tuple[str, tuple[Any, ...]]:
        column, parameters = self.process_lhs(compiler, connection)
        if hasattr(self.rhs, "as_sql"):
            query, more = compiler.compile(self.rhs)
            return f"{column} = ANY(ARRAY{query})", (*parameters, *more)
        return f"{column} = ANY(%s::uuid[])", (*parameters, self._list(connection))

    def as_sqlite(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper
    ) -> tuple[str, tuple[Any, ...]]:
        column, parameters = self.process_lhs(compiler, connection)
        if hasattr(self.rhs, "as_sql"):
            query, more = compiler.compile(self.rhs)
            return f"{column} IN {query}", (*parameters, *more)
        ids = self._list(connection)
        return f"{column} IN (SELECT value FROM json_each(%s))", (*parameters, ids)  # noqa: S608

    def _list(self, connection: BaseDatabaseWrapper) -> Any:
        return Blank.IDS if self.rhs is Blank.IDS else as_list(self.rhs, connection)


class Unindexed(Func):
    """The text of a column, in a condition that no index serves."""

    template = "(%(expressions)s || '')"
    output_field = TextField()


class BeginsWith(Lookup):
    """A text begins with these letters, none of which means more to LIKE: like `startswith`, but
    by an index on SQLite too.
    """

    prepare_rhs = False

    def as_sql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper
    ) -> tuple[str, tuple[Any, ...]]:
        column, parameters = self.process_lhs(compiler, connection)
        return f"{column} LIKE %s", (*parameters, f"{self.rhs}%")

    def as_sqlite(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper
    ) -> tuple[str, tuple[Any, ...]]:
        column, parameters = self.process_lhs(compiler, connection)
        after = self.rhs[:-1] + chr(ord(self.rhs[-1]) + 1)
        both = (*parameters, self.rhs, *parameters, after)
        return f"({column} >= %s AND {column} < %s)", both
