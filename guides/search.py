"""Finding names by any part of them, in any case, and at a million rows by an index.

The index holds every run of three letters of a name. It needs no extension: pg_trgm is not
everywhere, and finds no Japanese word of one or two letters.
"""

from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import F, Func, Lookup, Model, Q, TextField
from django.db.models.lookups import IContains
from django.db.models.sql.compiler import SQLCompiler

LONGEST = 200  # letters of a term


class Holds(Lookup):
    """A text holds a term; SQLite compares without an index, and ignores case in ASCII only."""

    prepare_rhs = False

    def as_sql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper
    ) -> tuple[str, tuple[Any, ...]]:
        return IContains(self.lhs, self.rhs).as_sql(compiler, connection)

    def as_postgresql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper
    ) -> tuple[str, tuple[Any, ...]]:
        text, parameters = self.process_lhs(compiler, connection)
        pattern = f"%{connection.ops.prep_for_like_query(self.rhs)}%"
        is_held = f"lower({text}) LIKE lower(%s)"
        if len(self.rhs) == 1 and self.rhs.isascii():
            return is_held, (*parameters, pattern)  # most names hold it: an index is no help
        # Names that share its runs of letters, from the index; of these the ones that hold it.
        sql = f"(search_grams({text}) @@ search_terms(%s) AND {is_held})"
        return sql, (*parameters, self.rhs, *parameters, pattern)


class Line(Func):
    """Texts one after the other, as the index of a table with two of them has them."""

    template = "(%(expressions)s)"
    arg_joiner = " || ' ' || "
    output_field = TextField()


def found(model: type[Model], plan: str, term: str, *columns: str) -> Q:
    """The condition that one of the columns holds this term, or that `plan` is it.

    If no plan id is this term, the condition leaves it out: an OR would make PostgreSQL compute
    the letters of every row that the index finds.
    """
    term = term.replace("\x00", "")[:LONGEST]
    is_held = Q(Holds(Line(*columns) if columns[1:] else F(columns[0]), term))
    is_plan = Q(**{plan: term})
    return is_held | is_plan if model._default_manager.filter(is_plan).exists() else is_held
