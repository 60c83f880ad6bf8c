"""What the database knows of a row, beside what a copy of it says."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Self

from django.db import models


class Known(models.Model):
    """A row that remembers some of its columns as they were last read or written."""

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
        """Note what the database knows of these columns, or of all that are tracked."""
        columns = self.KNOWN if columns is None else columns
        self._known = {**self._known, **{name: self.__dict__.get(name) for name in columns}}

    def changed(self, columns: Iterable[str]) -> set[str]:
        """Those in which this copy differs from what the database knows."""
        # The copy's value is read first: a column that was not loaded is known only after that.
        return {name for name in columns if getattr(self, name) != self._known.get(name)}
