"""A session ends after a day without use."""

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone

from tests.jobs.console.pages import log_in

pytestmark = pytest.mark.django_db

HOUR = 60 * 60


@pytest.fixture
def clock(monkeypatch):
    """Let hours pass for the sessions."""
    real, passed = timezone.now, timedelta()

    def pass_hours(hours):
        nonlocal passed
        passed += timedelta(hours=hours)

    monkeypatch.setattr(timezone, "now", lambda: real() + passed)
    return pass_hours


def is_logged_in(browser):
    return browser.get("/admin/jobs/worker/").status_code == 200


def test_it_ends_after_a_day_without_use(operator, clock):
    assert is_logged_in(operator)
    clock(hours=24.1)

    assert not is_logged_in(operator)


def test_it_goes_on_as_long_as_it_is_used(operator, clock):
    for _ in range(5):
        clock(hours=22)
        assert is_logged_in(operator)


def test_a_page_that_renews_itself_does_not_keep_it(operator, clock):
    assert is_logged_in(operator)
    clock(hours=12)
    assert operator.get("/admin/console/").status_code == 200
    assert operator.get("/", headers={"HX-Request": "true"}).status_code == 200
    assert operator.get("/admin/jobs/worker/", headers={"X-Renew": "1"}).status_code == 200
    clock(hours=12.1)

    assert not is_logged_in(operator)


def test_it_is_saved_once_an_hour_at_most(operator, clock):
    is_logged_in(operator)
    before = Session.objects.get().expire_date
    clock(hours=0.9)
    is_logged_in(operator)
    assert Session.objects.get().expire_date == before
    clock(hours=0.2)
    is_logged_in(operator)

    assert Session.objects.get().expire_date > before


def test_how_long_can_be_set(settings, client, clock):
    settings.SESSION_COOKIE_AGE = 2 * HOUR
    operator = log_in(client, "operators")
    clock(hours=1.9)
    assert is_logged_in(operator)
    clock(hours=2.1)

    assert not is_logged_in(operator)
