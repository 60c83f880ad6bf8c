"""How the admin looks, and its menu: the setting UNFOLD."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse_lazy
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _


def sidebar(title: Any, *pages: tuple[str, Any, str]) -> dict[str, Any]:
    """A group of the admin's menu; a page is its model, its title and its icon."""

    def may_open(model: str) -> Callable[[HttpRequest], bool]:
        app, _line, name = model.rpartition("_")
        verbs = ("view", "change")
        return lambda request: any(request.user.has_perm(f"{app}.{verb}_{name}") for verb in verbs)

    return {
        "title": title,
        "separator": True,
        "items": [
            {
                "title": name,
                "icon": icon,
                "link": reverse_lazy(f"admin:{model}_changelist"),
                "permission": may_open(model),
            }
            for model, name, icon in pages
        ],
    }


def kinds_of_jobs(*, housekeeping: bool = False) -> list[tuple[str, Any, str]]:
    """Every kind of job that has pages, the queue's own last: a new one is in the menu by itself.

    Batches are jobs too, but people look for them beside the calls that they make.
    """
    from django.contrib import admin  # not at the top: settings are read before models

    from jobs.models import job_models

    return [
        (f"{model._meta.app_label}_{model._meta.model_name}", name_of(model), "list_alt")
        for model in sorted(job_models(), key=lambda model: model._meta.app_label == "jobs")
        if admin.site.is_registered(model)
        and model._meta.label != "jobs.Batch"
        and model.is_housekeeping == housekeeping
    ]


def name_of(model: Any) -> str:
    return capfirst(str(model._meta.verbose_name_plural))


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """For unfold's SIDEBAR."""
    return [
        {
            "items": [
                {
                    "title": _("Dashboard"),
                    "icon": "dashboard",
                    "link": reverse_lazy("admin:index"),
                }
            ]
        },
        sidebar(
            _("Pictures"),
            ("guides_guide", _("Guides"), "map"),
            ("guides_spotdetail", _("Spots"), "location_on"),
            ("guides_spotimage", _("Versions"), "photo_library"),
        ),
        sidebar(
            _("Texts"),
            ("guides_weektext", _("Weeks"), "date_range"),
            ("guides_topicsummary", _("Topics"), "sell"),
            ("guides_version", _("Versions of texts"), "difference"),
            ("guides_commission", _("Commissions"), "edit_note"),
        ),
        sidebar(
            _("Queue"),
            ("jobs_process", _("Processes"), "account_tree"),
            ("jobs_schedule", _("Schedules"), "schedule"),
            ("jobs_event", _("Events"), "notifications"),
            *kinds_of_jobs(),
            ("jobs_attempt", _("Attempts"), "history"),
            ("jobs_worker", _("Workers"), "engineering"),
        ),
        sidebar(
            _("Money"),
            ("jobs_provider", _("Providers"), "bolt"),
            ("jobs_call", _("Calls"), "receipt_long"),
            ("jobs_batch", _("Batches"), "inventory_2"),
        ),
        sidebar(
            _("People"),
            ("admin_logentry", _("What people did"), "fact_check"),
            ("auth_user", _("Users"), "person"),
            ("auth_group", _("Groups"), "group"),
            ("config_apitoken", _("API tokens"), "key"),
        ),
        sidebar(
            _("Housekeeping"),
            ("jobs_alert", _("Alerts"), "campaign"),
            *kinds_of_jobs(housekeeping=True),
        ),
    ]


SITE = "Tabie 旅絵"


def unfold(database: str) -> dict[str, Any]:
    """Every page, the login's too, says which database it is about, if that has a name."""
    if not database:
        return UNFOLD
    site = f"{SITE} · {database}"
    # The label is what a phone shows, whose menu is closed.
    return UNFOLD | {"SITE_TITLE": site, "SITE_HEADER": site, "ENVIRONMENT": [database, "info"]}


UNFOLD: dict[str, Any] = {
    "SITE_TITLE": SITE,
    "SITE_HEADER": SITE,
    "SITE_FAVICONS": [
        {
            "rel": "icon",
            "type": "image/svg+xml",
            "href": lambda request: static("favicon.svg"),
        },
    ],
    "SITE_ICON": lambda request: static("favicon.svg"),
    # The same indigo as on the visitors' pages.
    "COLORS": {
        "primary": {
            "50": "#eff5fb",
            "100": "#dbe8f5",
            "200": "#bcd5ec",
            "300": "#8fb8de",
            "400": "#7fb2e5",
            "500": "#6ea6dd",
            "600": "#1d4e89",
            "700": "#1a4577",
            "800": "#183b64",
            "900": "#162f4f",
            "950": "#0e1f36",
        },
    },
    "LOGIN": {"form": "config.doors.login.LoginForm"},
    "STYLES": [lambda request: static("jobs/console.css")],
    "DASHBOARD_CALLBACK": "jobs.admin.dashboard.callback",
    "SIDEBAR": {
        "navigation": "config.console.navigation",
    },
}
