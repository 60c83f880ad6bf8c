"""The statuses of jobs as tabs above their list, each with its number."""

from dataclasses import dataclass

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
    number: Number
    link: str
    is_current: bool


def of(model: type[Job], request: HttpRequest) -> list[Tab]:
    numbers = counting.counts({status: model.objects.filter(status=status) for status in Status})
    implied = next((status for name, status in IMPLIED.items() if name in request.GET), "")
    current = request.GET.get(CHOSEN, implied)
    total = Number(sum(int(number) for number in numbers.values()))
    return [
        Tab("all", _("All"), total, link_to(model, {}), not current),
        *(
            Tab(
                status.value,
                capfirst(str(status.label)),
                number,
                link_to(model, {CHOSEN: status.value}),
                current == status,
            )
            for status, number in numbers.items()
        ),
    ]
