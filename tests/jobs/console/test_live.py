"""Open pages of the console renew themselves: they ask for their live parts only."""

import pytest
from django.contrib.messages import get_messages
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from jobs.models import Status
from tests.jobs.console.pages import LIST, in_state
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db

ASK = {"X-Renew": "1"}


def page_of(job):
    return reverse("admin:testapp_chore_change", args=[job.id])


def test_a_list_renews_its_rows_and_tabs_and_nothing_else(operator):
    [first] = in_state(Status.QUEUED, "sweep")
    assert 'data-live="rows"' in operator.get(LIST).text

    [second] = in_state(Status.FAILED, "dust")
    part = operator.get(LIST, headers=ASK).text

    assert all(str(job.id) in part for job in (first, second))
    assert all(f'data-live="{name}"' in part for name in ("before", "rows", "pages"))
    assert "<html" not in part
    assert "nav-sidebar" not in part


def test_what_has_not_changed_is_not_sent_again(operator):
    [job] = in_state(Status.SUCCEEDED, "sweep")
    tag = operator.get(page_of(job), headers=ASK)["ETag"]

    same = operator.get(page_of(job), headers={**ASK, "If-None-Match": tag})
    Chore.objects.update(last_error="out of soap")
    changed = operator.get(page_of(job), headers={**ASK, "If-None-Match": tag})

    assert (same.status_code, same.content) == (304, b"")
    assert "out of soap" in changed.text


@pytest.mark.parametrize(
    ("status", "is_final"), [(Status.PROCESSING, False), (Status.QUEUED, False), ("failed", True)]
)
def test_a_job_s_page_says_when_nothing_can_change_any_more(operator, status, is_final):
    [job] = in_state(status, "sweep")

    part = operator.get(page_of(job), headers=ASK).text

    assert ("data-final" in part) == is_final
    assert 'data-live="job"' in part


def test_a_renewal_asks_the_database_no_more_than_the_page(operator):
    in_state(Status.QUEUED, *"abcdef")
    [job] = in_state(Status.PROCESSING, "sweep")

    for page in (LIST, page_of(job)):
        operator.get(page)
        with CaptureQueriesContext(connection) as whole:
            operator.get(page)
        with CaptureQueriesContext(connection) as part:
            operator.get(page, headers=ASK)
        assert len(part) <= len(whole), page


def test_a_renewal_takes_no_message_away(operator):
    [job] = in_state(Status.FAILED, "sweep")
    told = operator.post(reverse("admin:testapp_chore_act", args=[job.id, "requeue"]))

    operator.get(LIST, headers=ASK)

    assert told.status_code == 302
    assert "Jobs queued again: 1." in operator.get(page_of(job)).text
    assert not list(get_messages(operator.get(LIST).wsgi_request))


def test_a_logged_out_page_is_sent_to_the_login(operator):
    operator.logout()

    assert operator.get(LIST, headers=ASK).status_code == 302


@pytest.mark.parametrize(
    "name",
    [
        *("jobs_attempt", "jobs_batch", "jobs_call", "jobs_process", "jobs_provider"),
        *("jobs_schedule", "jobs_worker", "guides_guide"),
    ],
)
def test_every_list_renews_itself(operator, name):
    page = operator.get(reverse(f"admin:{name}_changelist"))

    assert "data-refresh" in page.text
    part = operator.get(reverse(f"admin:{name}_changelist"), headers=ASK)
    assert 'data-live="rows"' in part.text


def test_tabs_count_every_status_and_show_where_one_is(operator):
    in_state(Status.FAILED, "a", "b")
    in_state(Status.QUEUED, "c")

    page = operator.get(LIST, {"error_kind": "–"})

    numbers = {tab.key: int(tab.number) for tab in page.context["tabs"]}
    assert numbers == {
        "all": 3,
        "queued": 1,
        "processing": 0,
        "succeeded": 0,
        "failed": 2,
        "canceled": 0,
    }
    assert [tab.key for tab in page.context["tabs"] if tab.is_current] == ["failed"]
    assert page.text.count('aria-current="page"') >= 1


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ({"q": "inari", "p": 2}, "q=inari"),
        ({"created_at_from": "2026-01-01", "q": ""}, "created_at_from=2026-01-01"),
        ({"provider": "dear", "worker": "me"}, "provider=dear"),
    ],
)
def test_tabs_keep_a_search_and_do_not_number_what_it_hides(operator, query, kept):
    in_state(Status.FAILED, "a", "b")

    tabs = {tab.key: tab for tab in operator.get(LIST, query).context["tabs"]}

    assert tabs["all"].link == f"{LIST}?{kept}"
    assert tabs["failed"].link == f"{LIST}?{kept}&status__exact=failed"
    assert {tab.number for tab in tabs.values()} == {None}


def test_without_a_search_a_tab_has_its_number(operator):
    in_state(Status.FAILED, "a", "b")

    page = operator.get(LIST, {"status__exact": "queued", "q": " "})

    tabs = {tab.key: tab for tab in page.context["tabs"]}
    assert (tabs["all"].link, int(tabs["failed"].number)) == (LIST, 2)


def test_a_list_is_titled_with_what_it_lists(operator):
    page = operator.get(LIST).text

    assert "<title> Chores |" in " ".join(page.split())
    assert "Select chore" not in page
