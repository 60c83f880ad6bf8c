"""Failures grouped by kind, one line each with a link to its list."""

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from jobs.admin.base import link_to
from jobs.admin.filters import NO_KIND
from jobs.console import causes, figures
from jobs.models import Job, Status


@dataclass(frozen=True)
class FailureLine:
    kind: str  # as `manage.py jobs --error-kind` takes it
    cause: str  # the same in words
    number: Any
    example: str
    link: str


def failure_lines(model: type[Job]) -> list[FailureLine]:
    return [_line(model, found) for found in figures.failures(model)]


def _line(model: type[Job], found: figures.Failures) -> FailureLine:
    if found.is_rest:
        kind, query = _("others"), {"status__exact": Status.FAILED.value}
    else:
        kind = found.kind or NO_KIND
        query = {"error_kind": kind}
    cause = causes.words(found.kind, model) or kind
    example = causes.beginning(found.example)
    return FailureLine(kind, cause, found.number, example, link_to(model, query))
