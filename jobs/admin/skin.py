"""The console's theme: unfold where a project has installed it, else Django's own admin.

The pages import these names from here, so that none of them needs to know which it is.
"""

from django.apps import apps

IS_UNFOLD = apps.is_installed("unfold")

if IS_UNFOLD:
    from unfold.admin import ModelAdmin
    from unfold.contrib.filters.admin import RangeDateFilter
    from unfold.decorators import display
    from unfold.templatetags.unfold_list import result_headers, results
    from unfold.widgets import UnfoldAdminTextInputWidget as TextInput

    CHANGE_LIST = "admin/jobs/change_list.html"
    STYLES = ["jobs/console.css"]
else:
    from django.contrib.admin import ModelAdmin
    from django.contrib.admin.templatetags.admin_list import result_headers, results
    from django.contrib.admin.widgets import AdminTextInputWidget as TextInput

    from jobs.admin.plain import RangeDateFilter, display

    CHANGE_LIST = "admin/jobs/plain/change_list.html"
    STYLES = ["jobs/console.css", "jobs/plain.css"]

__all__ = [
    "CHANGE_LIST",
    "IS_UNFOLD",
    "STYLES",
    "ModelAdmin",
    "RangeDateFilter",
    "TextInput",
    "display",
    "result_headers",
    "results",
]
