"""Checks what the code declares: `manage.py check` and `migrate` report it."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from django.core.checks import CheckMessage, Error, register

from jobs.schedules import declaring


@register
def check_schedules(**_: Any) -> list[CheckMessage]:
    return list(_faults())


def _faults() -> Iterator[CheckMessage]:
    declarations = list(declaring.declarations())
    names = Counter(each.name for each in declarations)
    for each in declarations:
        label = each.model._meta.label
        if names[each.name] > 1:
            hint = "Give each declaration a name of its own: Daily(…, name=…)."
            text = f"{label} declares the schedule {each.name!r}, and so does another declaration."
            yield Error(text, hint=hint, obj=each.model, id="jobs.E003")
        try:
            each.check()
        except ValueError as error:
            yield Error(f"The schedule of {label}: {error}", obj=each.model, id="jobs.E002")
