"""What Django's own admin lacks and the console needs: see `skin`."""

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

from django.contrib import admin
from django.contrib.admin.views.main import PAGE_VAR
from django.db.models import Field
from django.http import HttpRequest
from django.utils.html import format_html

Method = Callable[[Any, Any], tuple[str, str]]


def display(*, description: Any, label: dict[str, str]) -> Callable[[Method], Callable[..., str]]:
    """A column of labels: the method gives a key of `label`, which maps to a colour, and a text."""

    def decorate(method: Method) -> Callable[..., str]:
        @admin.display(description=description)
        @wraps(method)
        def show(page: Any, row: Any) -> str:
            key, text = method(page, row)
            return format_html('<span class="tc-label tc-is-{}">{}</span>', label[key], text)

        return show

    return decorate


class RangeDateFilter(admin.FieldListFilter):
    """A form with two days, beside the list."""

    template = "admin/jobs/plain/days.html"

    def __init__(
        self,
        field: "Field[Any, Any]",
        request: HttpRequest,
        params: dict[str, Any],
        model: Any,
        model_admin: Any,
        field_path: str,
    ) -> None:
        self.parameter_name = field_path
        super().__init__(field, request, params, model, model_admin, field_path)
        # The last of several values in the URL, as everywhere else.
        given: dict[str, Any] = self.used_parameters
        self.used_parameters = {name: texts[-1] for name, texts in given.items()}
        own = {PAGE_VAR, *self.expected_parameters()}
        self.kept = [(name, text) for name, text in request.GET.items() if name not in own]

    def expected_parameters(self) -> list[str | None]:
        return [f"{self.parameter_name}_from", f"{self.parameter_name}_to"]

    def choices(self, changelist: Any) -> Iterator[Any]:
        for name in self.expected_parameters():
            yield {"name": name, "value": self.used_parameters.get(str(name), "")}
