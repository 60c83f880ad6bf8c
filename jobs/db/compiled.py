"""Queries of the ORM that are compiled once and sent many times.

For a query of a few rows, Django takes longer to build and compile it than PostgreSQL to answer.
What differs from one time to the next is a `Blank` among its parameters, such as the ids of rows.
"""

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar, NamedTuple
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Model, QuerySet, Subquery
from django.db.models.sql import UpdateQuery

from jobs.db import making
from jobs.db.lookups import Blank, as_list

ANY_NUMBER = 987_654_321  # stands for the number of rows while a query is compiled


class Statement:
    """SQL, and its parameters or blanks for them."""

    def __init__(self, sql: str, parameters: Iterable[Any]) -> None:
        self.sql = sql
        self.parameters = tuple(parameters)

    def execute(self, ids: Iterable[UUID] = (), **others: Any) -> int:
        """Send it; returns how many rows it changed."""
        with connection.cursor() as cursor:
            cursor.execute(self.sql, self.filled(ids, **others))
            return int(cursor.rowcount)

    def rows(self, ids: Iterable[UUID] = (), **others: Any) -> list[Any]:
        """Send it; returns what comes back, as the driver reads it."""
        with connection.cursor() as cursor:
            cursor.execute(self.sql, self.filled(ids, **others))
            return list(cursor.fetchall())

    def filled(self, ids: Iterable[UUID] = (), **others: Any) -> list[Any]:
        """The parameters for this time; `others` are named like their blanks."""
        values = {Blank[name]: value for name, value in others.items()}
        values[Blank.IDS] = as_list(ids, connection)
        return [values[each] if isinstance(each, Blank) else each for each in self.parameters]


def update(rows: QuerySet[Any], **columns: Any) -> Statement:
    """The statement of `rows.update()`."""
    query: Any = rows.query.chain(UpdateQuery)
    query.add_update_values(columns)
    with _compiling():
        return Statement(*query.get_compiler(connection=connection).as_sql())


def _compiling() -> AbstractContextManager[None]:
    """Django compiles FOR UPDATE only inside a transaction. This one sends nothing."""
    locks = connection.features.has_select_for_update
    return transaction.atomic(savepoint=False) if locks else nullcontext()


class Select(Statement):
    """The statement of a queryset; it returns rows as tuples."""

    def __init__(self, rows: QuerySet[Any]) -> None:
        compiler: Any = rows.query.get_compiler(connection=connection)
        with _compiling():
            super().__init__(*compiler.as_sql())
        self.columns = [column for column, _, _ in compiler.select]
        self.converters = compiler.get_converters(self.columns)

    def tuples(self, ids: Iterable[UUID] = (), **others: Any) -> list[Any]:
        rows = self.rows(ids, **others)
        return [self._converted(row) for row in rows] if self.converters else rows

    def _converted(self, row: tuple[Any, ...]) -> tuple[Any, ...]:
        values = list(row)
        for position, (converters, expression) in self.converters.items():
            for convert in converters:
                values[position] = convert(values[position], expression, connection)
        return tuple(values)


def is_plain(rows: QuerySet[Any]) -> bool:
    """Whether the rows are objects of the model, with its own columns and nothing else."""
    query: Any = rows.query
    prefetched: Any = rows._prefetch_related_lookups  # type: ignore[attr-defined]
    deferred, _ = query.deferred_loading
    return not (query.annotations or query.select_related or prefetched or deferred)


def ids_of_first(rows: QuerySet[Any]) -> Any:
    """The ids of a queryset's first rows, however many, for an update that `Returning` sends."""
    return Subquery(rows.values("id")[:ANY_NUMBER])


class Updated(NamedTuple):
    objects: list[Any]
    search_seconds: float | None  # until all were found and locked; None: there are none


class Returning(Select):
    """An update of a queryset's first rows; it returns them as objects of the model."""

    # Not the time of the whole statement: that may wait for a disk or for a standby.
    SEARCHED: ClassVar = {
        "postgresql": "EXTRACT(EPOCH FROM clock_timestamp() - statement_timestamp())::float8",
        "sqlite": "0.0",
    }

    def __init__(self, model: type[Model], update: Statement) -> None:
        super().__init__(model._base_manager.all())
        columns, _, _ = self.sql.removeprefix("SELECT ").partition(" FROM ")
        # Django writes the number into the text.
        before, _, after = update.sql.partition(f"LIMIT {ANY_NUMBER}")
        searched = self.SEARCHED[connection.vendor]
        self.sql = f"{before}LIMIT %s{after} RETURNING {columns}, {searched}"
        at = before.count("%s")
        known = update.parameters
        self.parameters = (*known[:at], Blank.NUMBER, *known[at:])
        self.model = model
        self.names = [column.target.attname for column in self.columns]

    def update(self, number: int, **others: Any) -> Updated:
        rows = self.tuples(NUMBER=number, **others)
        make = making.of_row if making.is_plain(self.model) else _of_row
        db, model, names = connection.alias, self.model, self.names
        objects = [make(model, db, names, row[:-1]) for row in rows]
        return Updated(objects, rows[0][-1] if rows else None)


def _of_row(model: type[Any], db: str, names: list[str], row: tuple[Any, ...]) -> Any:
    return model.from_db(db, names, row)
