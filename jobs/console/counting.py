"""Counting without reading whole tables: exact up to 10,000, else "more than 10,000"."""

from collections.abc import Hashable, Mapping
from typing import Any, TypeVar

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import QuerySet, Value
from django.utils.formats import number_format
from django.utils.translation import gettext as _

MANY = 10_000
Key = TypeVar("Key", bound=Hashable)


class Number(int):
    """A count that stops after 10,000; its text then says "more than"."""

    @property
    def is_exact(self) -> bool:
        return self <= MANY

    def __str__(self) -> str:
        if self.is_exact:
            return number_format(int(self), force_grouping=True)
        most = number_format(MANY, force_grouping=True)
        return _("more than %(number)s") % {"number": most}

    def __add__(self, other: int) -> "Number":
        return Number(int(self) + other)


def count(rows: QuerySet[Any]) -> Number:
    return counts({"rows": rows})["rows"]


def counts(questions: Mapping[Key, QuerySet[Any]]) -> dict[Key, Number]:
    """Count the rows of many querysets in one query."""
    # A constant instead of columns, so that an index-only scan may do.
    ones = {key: _ones(rows) for key, rows in questions.items()}
    answers = firsts(ones, "(SELECT COUNT(*) FROM ({}) AS few)")
    return {key: Number(answer or 0) for key, answer in answers.items()}


def _ones(rows: QuerySet[Any]) -> QuerySet[Any]:
    ones: QuerySet[Any] = rows.order_by().annotate(one=Value(1)).values_list("one")
    return ones[: MANY + 1]


def firsts(questions: Mapping[Key, QuerySet[Any]], form: str = "({})") -> dict[Key, Any]:
    """The values of many single-value querysets, in one query."""
    parts: list[str] = []
    parameters: list[Any] = []
    for rows in questions.values():
        try:
            sql, values = rows.query.sql_with_params()
        except EmptyResultSet:
            parts.append("NULL")
        else:
            parts.append(form.format(sql))
            parameters += values
    if not parts:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(parts)}", parameters)
        return dict(zip(questions, cursor.fetchone(), strict=True))


def distinct(rows: QuerySet[Any], column: str, most: int = 20) -> list[Any]:
    """The smallest few distinct values of an indexed column, with one index lookup each."""
    table = connection.ops.quote_name(rows.model._meta.db_table)
    name = connection.ops.quote_name(column)
    where, parameters = _condition(rows)
    with connection.cursor() as cursor:
        cursor.execute(
            f"WITH RECURSIVE found (value, number) AS ("  # noqa: S608 (names, not values)
            f" SELECT MIN({name}), 1 FROM {table} WHERE {where}"
            " UNION ALL"
            f" SELECT (SELECT MIN({name}) FROM {table} WHERE {where} AND {name} > found.value),"
            " number + 1 FROM found WHERE found.value IS NOT NULL AND number < %s)"
            " SELECT value FROM found WHERE value IS NOT NULL",
            [*parameters, *parameters, most],
        )
        return [value for (value,) in cursor.fetchall()]


def _condition(rows: QuerySet[Any]) -> tuple[str, tuple[Any, ...]]:
    sql, parameters = rows.order_by().values_list("pk").query.sql_with_params()
    return sql.split(" WHERE ", 1)[1], parameters
