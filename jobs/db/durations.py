"""Durations as whole milliseconds, computed by the database."""

from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import BigIntegerField, Func
from django.db.models.sql.compiler import SQLCompiler


class Milliseconds(Func):
    """A difference of two times. At least 0: a clock may have been set back in between."""

    output_field = BigIntegerField()

    def as_postgresql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: Any
    ) -> tuple[str, Any]:
        template = "GREATEST((EXTRACT(EPOCH FROM %(expressions)s) * 1000)::bigint, 0)"
        return super().as_sql(compiler, connection, template=template, **context)

    def as_sqlite(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: Any
    ) -> tuple[str, Any]:
        template = "MAX(%(expressions)s / 1000, 0)"  # of microseconds
        return super().as_sql(compiler, connection, template=template, **context)
