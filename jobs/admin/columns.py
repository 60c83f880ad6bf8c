"""A model's own columns, for the list of its jobs."""

from collections.abc import Callable
from typing import Any

from django.contrib import admin
from django.db.models import BinaryField, Field, JSONField
from django.utils.text import Truncator

from jobs.models import Job

MOST_COLUMNS = 4
LONGEST = 80
UNREADABLE = (BinaryField, JSONField)


def own_columns(model: type[Job]) -> list[Callable[[Any], str]]:
    """The first columns that the model adds to a job, for a list."""
    base = {field.name for field in Job._meta.fields}
    own = [field for field in model._meta.concrete_fields if field.name not in base]
    return [_column(field) for field in own if not isinstance(field, UNREADABLE)][:MOST_COLUMNS]


def _column(field: "Field[Any, Any]") -> Callable[[Any], str]:
    @admin.display(description=field.verbose_name, empty_value="")
    def show(job: Any) -> str:
        value = field.value_from_object(job)
        return "" if value is None else Truncator(str(value)).chars(LONGEST)

    show.__name__ = field.name  # names the cell for style sheets
    return show
