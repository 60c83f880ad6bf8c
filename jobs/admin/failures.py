"""A thousand failures as a few lines, each a link to its list."""

from dataclasses import dataclass
from typing import Any

from jobs import figures
from jobs.admin.base import link_to
from jobs.models import Job, Status


@dataclass(frozen=True)
class FailureLine:
    kind: str
    number: Any
    example: str
    link: str


def failure_lines(model: type[Job]) -> list[FailureLine]:
    return [
        FailureLine(
            found.kind or "–",
            found.number,
            found.example,
            link_to(
                model,
                {"error_kind": found.kind}
                if found.kind
                else {"status__exact": Status.FAILED.value},
            ),
        )
        for found in figures.failures(model)
    ]
