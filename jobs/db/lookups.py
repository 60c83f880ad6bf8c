"""Conditions that Django's own lookups don't offer."""

import json
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Func, Lookup, TextField
from django.db.models.sql.compiler import SQLCompiler

IDS: Any = object()  # stands for a list of ids in a query that is compiled before they are known


def as_list(ids: Iterable[UUID], connection: BaseDatabaseWrapper) -> str:
    """The parameter for a list of ids."""
    if connection.vendor == "sqlite":
        return json.dumps([id.hex for id in ids])
    # As text: psycopg takes several times as long to adapt a list of UUIDs.
    return "{" + ",".join([id.hex for id in ids]) + "}"


class AnyOf(Lookup):
    """A UUID is one of many: like IN, but the list is one parameter, however long it is.

    On PostgreSQL it may also be an expression for an array.
    """

    prepare_rhs = False

    def as_sql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper
    ) -> tuple[str, tuple[Any, ...]]:
        column, parameters = self.process_lhs(compiler, connection)
        if hasattr(self.rhs, "as_sql"):
            array, ids_of_array = compiler.compile(self.rhs)
            return f"{column} = ANY({array})", (*parameters, *ids_of_array)
        ids = IDS if self.rhs is IDS else as_list(self.rhs, connection)
        return f"{column} = ANY(%s::uuid[])", (*parameters, ids)

    def as_sqlite(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper
    ) -> tuple[str, tuple[Any, ...]]:
        column, parameters = self.process_lhs(compiler, connection)
        ids = IDS if self.rhs is IDS else as_list(self.rhs, connection)
        return f"{column} IN (SELECT value FROM json_each(%s))", (*parameters, ids)  # noqa: S608


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
