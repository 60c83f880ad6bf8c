"""The statuses of jobs as tabs above their list.

A tab keeps the search and the other filters. Its number is that of the list it opens: it has one
only without a search or filter, which would have to be counted for each status.
"""

from dataclasses import dataclass

from django.contrib.admin.views.main import ERROR_FLAG, ORDER_VAR, PAGE_VAR
from django.http import HttpRequest
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from jobs.admin.base import link_to
from jobs.admin.filters import ErrorKindFilter, WorkerFilter
from jobs.console import counting
from jobs.console.counting import Number
from jobs.models import Job, Status

CHOSEN = "status__exact"
# A list with one of these filters shows jobs of one status only.
IMPLIED = {
    ErrorKindFilter.parameter_name: Status.FAILED,
    WorkerFilter.parameter_name: Status.PROCESSING,
}


@dataclass(frozen=True)
class Tab:
    key: str
    title: str
    number: Number | None
    link: str
    is_current: bool


def of(model: type[Job], request: HttpRequest) -> list[Tab]:
    kept = _kept(request)
    numbers = {} if kept else counts(model)
    implied = next((status for name, status in IMPLIED.items() if name in request.GET), "")
    current = request.GET.get(CHOSEN, implied)
    total = Number(sum(map(int, numbers.values()))) if numbers else None
    return [
        Tab("all", _("All"), total, link_to(model, kept), not current),
        *(
            Tab(
                status.value,
                capfirst(str(status.label)),
                numbers.get(status),
                link_to(model, {**kept, CHOSEN: status.value}),
                current == status,
            )
            for status in Status
        ),
    ]


def counts(model: type[Job]) -> dict[Status, Number]:
    return counting.counts({status: model.objects.filter(status=status) for status in Status})


def _kept(request: HttpRequest) -> dict[str, str]:
    """The search and the filters that go along to another status."""
    dropped = {CHOSEN, *IMPLIED, PAGE_VAR, ORDER_VAR, ERROR_FLAG}
    return {
        name: value
        for name, value in request.GET.items()
        if name not in dropped and isinstance(value, str) and value.strip()
    }
