"""Conditions that Django's own lookups don't offer."""

import json
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Lookup
from django.db.models.sql.compiler import SQLCompiler


class AnyOf(Lookup):
    """A UUID is one of many: like IN, but the list is one parameter, however long it is."""

    prepare_rhs = False

    def as_sql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper
    ) -> tuple[str, tuple[Any, ...]]:
        column, parameters = self.process_lhs(compiler, connection)
        # As text: psycopg takes several times as long to adapt a list of UUIDs.
        ids = "{" + ",".join([id.hex for id in self.rhs]) + "}"
        return f"{column} = ANY(%s::uuid[])", (*parameters, ids)

    def as_sqlite(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper
    ) -> tuple[str, tuple[Any, ...]]:
        column, parameters = self.process_lhs(compiler, connection)
        ids = json.dumps([id.hex for id in self.rhs])
        return f"{column} IN (SELECT value FROM json_each(%s))", (*parameters, ids)  # noqa: S608
