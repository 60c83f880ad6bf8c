"""Inserting many rows in one statement, skipping those that exist."""

from contextlib import nullcontext
from operator import attrgetter
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import NOT_PROVIDED
from django.db.models.expressions import DatabaseDefault
from django.db.models.sql import InsertQuery


def insert_missing(rows: list[Any]) -> list[UUID]:
    """Insert rows of one model, skipping those that exist; returns the ids of the new ones.

    One statement for any number of rows, except where SQLite's limit on parameters splits it. A
    single row learns what the database filled in, such as the time.
    """
    if not rows:
        return []
    model = type(rows[0])
    fields = given(model, rows)
    size = connection.ops.bulk_batch_size(fields, rows) or len(rows)
    batches = [rows[start : start + size] for start in range(0, len(rows), size)]
    with nullcontext() if len(batches) == 1 else transaction.atomic(savepoint=False):
        return [id for batch in batches for id in _insert(model, fields, batch)]


def given(model: type[Any], rows: list[Any]) -> list[Any]:
    """The fields that must be sent: those that the database does not fill in by itself."""
    return [field for field in model._meta.concrete_fields if _is_given(field, rows)]


def _is_given(field: Any, rows: list[Any]) -> bool:
    """Whether a row has another value than the database would fill in."""
    values = map(attrgetter(field.attname), rows)
    if field.has_db_default():
        filled_in = field.default if field.default == field.db_default else NOT_PROVIDED
        return any(v != filled_in for v in values if not isinstance(v, DatabaseDefault))
    if field.generated:
        return False
    return not field.null or field.has_default() or any(value is not None for value in values)


def _insert(model: type[Any], fields: list[Any], rows: list[Any]) -> list[UUID]:
    # bulk_create() can't tell which rows are new, and on SQLite it skips a row that breaks any
    # constraint. So this takes the statement that it would send, and changes the ending.
    query = InsertQuery(model)
    query.insert_values(fields, rows)
    compiler = query.get_compiler(connection=connection)
    told = [model._meta.pk, *(_filled_in(model, fields) if len(rows) == 1 else ())]
    compiler.returning_fields = told
    [(statement, parameters)] = compiler.as_sql()
    insert, returning = statement.rsplit(" RETURNING ", 1)
    with connection.cursor() as cursor:
        cursor.execute(f"{insert} ON CONFLICT DO NOTHING RETURNING {returning}", parameters)
        found = cursor.fetchall()
    converters = compiler.get_converters([each.get_col(model._meta.db_table) for each in told])
    new = list(compiler.apply_converters(found, converters)) if converters else found
    for field, value in zip(told, new[0], strict=True) if len(told) > 1 and new else ():
        setattr(rows[0], field.attname, value)
    return [id for id, *_ in new]


def _filled_in(model: type[Any], sent: list[Any]) -> list[Any]:
    fields = model._meta.concrete_fields
    return [field for field in fields if field.has_db_default() and field not in sent]
