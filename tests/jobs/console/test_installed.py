"""The console makes itself at home in a project's admin, and leaves what the project chose."""

import logging

import pytest
from django.contrib.admin import AdminSite
from django.db import connection

from jobs.admin import dashboard
from jobs.console import audit
from jobs.management.commands import runworker


def names(site):
    return [pattern.name for pattern in site.get_urls()]


def test_the_dashboard_is_the_first_page():
    site = AdminSite()

    dashboard.install(site)

    assert site.index_template == "admin/jobs/index.html"
    assert "console" in names(site)


def test_a_first_page_that_the_project_chose_stays():
    site = AdminSite()
    site.index_template = "admin/mine.html"

    dashboard.install(site)

    assert site.index_template == "admin/mine.html"
    assert "console" not in names(site)


@pytest.mark.django_db
def test_the_log_has_an_index_for_the_pages_of_jobs():
    with connection.cursor() as cursor:
        table = audit.LogEntry._meta.db_table
        assert audit.LOG_INDEX in connection.introspection.get_constraints(cursor, table)


def test_a_worker_is_not_silent_in_a_project_without_a_log(monkeypatch, capsys):
    log = logging.getLogger("jobs")
    monkeypatch.setattr(log, "handlers", [])
    monkeypatch.setattr(log, "propagate", False)

    for _ in range(2):
        runworker.log_to_terminal(log.level)
    log.warning("succeeded")

    assert capsys.readouterr().err.count("WARNING succeeded") == 1
