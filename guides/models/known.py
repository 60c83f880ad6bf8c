"""Which values of a row the database has, beside those of the copy in memory."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Self

from django.db import models


class Known(models.Model):
    """A row that remembers how some of its columns were last read or written."""

    KNOWN: ClassVar[tuple[str, ...]]

    _known: Mapping[str, Any] = MappingProxyType({})

    class Meta:
        abstract = True

    @classmethod
    def from_db(cls, db: str | None, field_names: Any, values: Any, **options: Any) -> Self:
        row = super().from_db(db, field_names, values, **options)
        row.remember()
        return row

    def refresh_from_db(
        self, using: Any = None, fields: Any = None, *more: Any, **options: Any
    ) -> None:
        super().refresh_from_db(using, fields, *more, **options)
        self.remember(self.KNOWN if fields is None else set(self.KNOWN) & set(fields))

    def remember(self, columns: Iterable[str] | None = None) -> None:
        """Note the database's values of these columns, or of all tracked ones."""
        columns = self.KNOWN if columns is None else columns
        self._known = {**self._known, **{name: self.__dict__.get(name) for name in columns}}

    def changed(self, columns: Iterable[str]) -> set[str]:
        """The columns whose value in this copy differs from the database's."""
        # Read the copy's value first: that loads a deferred column, and only then it is known.
        return {name for name in columns if getattr(self, name) != self._known.get(name)}
