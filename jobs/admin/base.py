"""The base of all console pages: each reads a bounded number of rows."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode

from django.contrib.admin import ShowFacets, site
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.utils import quote, unquote
from django.contrib.admin.views.main import ORDER_VAR
from django.core.exceptions import BadRequest, PermissionDenied, ValidationError
from django.core.paginator import Paginator
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.functional import cached_property
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.views import ChangeList

from jobs import queue
from jobs.admin import live
from jobs.admin.filters import as_uuid as as_uuid
from jobs.console import counting, lineage
from jobs.models import job_models

Rows = QuerySet[Any]


class CappedPaginator(Paginator):
    """Counts up to 10,000: an exact count of a huge table can take minutes."""

    @cached_property
    def count(self) -> int:
        return counting.count(self.object_list)  # type: ignore[arg-type]

    @property
    def num_pages(self) -> int:
        most = min(self.count, counting.MANY)
        return max(1, -(-most // self.per_page))


class AdornedChangeList(ChangeList):
    """Lets its admin add facts to all rows of a page at once.

    The URL can't change the order: only the admin knows which orders have an index.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.title = capfirst(str(self.opts.verbose_name_plural))  # not "Select … to view"

    @property
    def renews(self) -> bool:
        """Whether the open list refreshes itself: no index serves a search for one ASCII letter."""
        term = self.query.strip()
        return not (len(term) == 1 and term.isascii())

    def get_ordering(self, request: HttpRequest, queryset: Rows) -> Any:
        self.params.pop(ORDER_VAR, None)
        return super().get_ordering(request, queryset)

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        self.result_list = list(self.result_list)  # type: ignore[has-type]
        self.model_admin.adorn(self.result_list)


class GuardedAdmin(ModelAdmin):
    """Rows whose lists stay cheap and refuse forged ids."""

    show_facets = ShowFacets.NEVER  # it counts the whole table once per choice of each filter

    def response_action(self, request: HttpRequest, queryset: Rows) -> Any:
        refuse_forged(self.model, *request.POST.getlist(ACTION_CHECKBOX_NAME))
        return super().response_action(request, queryset)

    def get_object(self, request: HttpRequest, object_id: str, *more: Any) -> Any:
        if "\x00" in object_id:  # a key may be text, and PostgreSQL refuses NUL
            return None
        return super().get_object(request, object_id, *more)


def refuse_forged(model: type[Model], *ids: str) -> None:
    """Answer 400 to an id that no row of this model can have: no page of ours sends it."""
    for id in ids:
        try:
            model._meta.pk.run_validators(model._meta.pk.to_python(id))
            is_forged = "\x00" in id
        except (ValidationError, ValueError):
            is_forged = True
        if is_forged:
            raise BadRequest(_("%(id)s is not an id.") % {"id": ascii(id[:80])})


class DescribedAdmin(GuardedAdmin):
    """Rows whose page shows more than their columns, and whose list renews itself."""

    change_list_template = "admin/jobs/change_list.html"

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        page: HttpResponse = live.answer(request, super().changelist_view(request, extra_context))
        return page

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return AdornedChangeList

    def adorn(self, rows: list[Any]) -> None:
        """Add what the list shows besides columns to the rows of one page."""

    def describe(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        """More context for the template of a row's page."""
        return {}

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        row = self.get_object(request, unquote(object_id))
        context = self.describe(request, row) if row else {}
        response = super().change_view(
            request, object_id, form_url, {**context, **(extra_context or {})}
        )
        page: HttpResponse = live.answer(request, response)
        return page

    @queue.repeated
    def changeform_view(self, request: HttpRequest, *arguments: Any, **options: Any) -> Any:
        """Save a form again if it deadlocked with a worker."""
        return super().changeform_view(request, *arguments, **options)


class ReadOnlyAdmin(DescribedAdmin):
    """Rows that no form edits. Visible to users with view or change permission."""

    show_full_result_count = False
    paginator = CappedPaginator
    list_per_page = 50
    list_max_show_all = 0
    sortable_by: list[str] = []  # an order without an index would take minutes
    list_filter_submit = True
    actions: Any = []

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.may(request, "view") or self.may(request, "change")

    def has_act_permission(self, request: HttpRequest) -> bool:
        """For actions with permissions=["act"]: checked when they are listed and when they run."""
        return self.may(request, "change")

    def may(self, request: HttpRequest, what: str) -> bool:
        return request.user.has_perm(f"{self.opts.app_label}.{what}_{self.opts.model_name}")

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """Only the filters' lookups: any other one, typed into the URL, would read all rows."""
        return lookup in filter_names(self.list_filter)

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        actions: dict[str, Any] = super().get_actions(request)
        actions.pop("delete_selected", None)
        return actions

    def object_or_refuse(self, request: HttpRequest, object_id: str, what: str) -> Any:
        """The row that a user wants to act on; raises PermissionDenied or Http404."""
        if not self.may(request, what):
            raise PermissionDenied
        row = self.get_object(request, unquote(object_id))
        if row is None:
            raise Http404
        return row

    def page_of(self, row: Model) -> str:
        return page_of(row)


class ByJobAdmin(ReadOnlyAdmin):
    """Rows about jobs, found by the job's id, or by its trace."""

    search_fields = ["job_id"]  # only to show the search box
    search_help_text = _("id of a job or of a trace")

    def get_search_results(
        self, request: HttpRequest, queryset: Rows, search_term: str
    ) -> tuple[Rows, bool]:
        if not search_term.strip():
            return queryset, False
        ids = {as_uuid(search_term.strip())} - {None}
        if trace_id := lineage.trace_in(search_term):
            ids |= {job.pk for job in lineage.in_trace(trace_id, job_models())}
        return queryset.filter(job_id__in=ids), False


def filter_names(filters: Iterable[Any]) -> set[str]:
    """The URL parameters of these filters."""
    names: set[str] = set()
    for each in filters:
        if isinstance(each, str):
            names |= {f"{each}__exact", f"{each}__isnull"}
        elif isinstance(each, tuple):  # a column and its day filter
            names |= {f"{each[0]}_from", f"{each[0]}_to"}
        else:
            names.add(each.parameter_name)
    return names


def may_see(request: HttpRequest, model: Any) -> bool:
    """Whether the model has an admin page that this user may open."""
    page = site._registry.get(model)
    return page is not None and page.has_view_or_change_permission(request)


def page_of(row: Model) -> str:
    opts = row._meta
    return reverse(f"admin:{opts.app_label}_{opts.model_name}_change", args=[quote(row.pk)])


def list_of(model: type[Model]) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")


def link_to(model: Any, query: dict[str, str]) -> str:
    return f"{list_of(model)}?{urlencode(query)}" if query else list_of(model)
