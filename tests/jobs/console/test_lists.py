"""How operators find jobs: filters and a search that never scan the whole table."""

import time
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from jobs.admin.filters import smallest_id
from jobs.models import Call, Provider, Status, Worker, uuid7
from tests.jobs.conftest import new_chore
from tests.jobs.console.pages import in_state
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db(transaction=True)

LIST = reverse("admin:testapp_chore_changelist")


def found(client, **query):
    page = client.get(LIST, query)
    assert page.status_code == 200
    return {job.name for job in page.context["cl"].result_list}


def test_by_kind_of_error(admin_client):
    in_state(Status.FAILED, "a", "b")
    Chore.objects.filter(name="a").update(error_kind="TimedOut")
    Chore.objects.filter(name="b").update(error_kind="Poisonous")

    assert found(admin_client, error_kind="TimedOut") == {"a"}


def test_a_list_of_failures_begins_with_what_they_have_in_common(admin_client):
    in_state(Status.FAILED, "a", "b", "c")
    Chore.objects.filter(name__in="ab").update(error_kind="TimedOut")

    failed = admin_client.get(LIST, {"status__exact": "failed"})
    queued = admin_client.get(LIST, {"status__exact": "queued"})

    assert '<b title="TimedOut">timed out</b> <span class="tc-times">× 2</span>' in failed.text
    assert "Failures by kind" not in queued.text


def test_by_worker(admin_client):
    in_state(Status.PROCESSING, "a")
    in_state(Status.QUEUED, "b")
    Worker.objects.create(name="me", slots=1, version="1", lease_expires_at=Now())

    assert found(admin_client, worker="me") == {"a"}
    assert found(admin_client, worker="you") == set()


def test_by_provider_of_the_last_call(admin_client):
    first, second = in_state(Status.FAILED, "a", "b")
    Provider.objects.bulk_create([Provider(name="old"), Provider(name="new")])
    for job, provider, hours in ((first, "old", 2), (second, "old", 2), (second, "new", 1)):
        Call.objects.create(
            provider=provider,
            job_id=job.id,
            epoch=1,
            key=f"{job.id.hex}"[:60] + str(hours),
            number=1,
            state="failed",
            deadline=Now(),
            started_at=Now() - timedelta(hours=hours),
        )

    assert found(admin_client, provider="old") == {"a"}
    assert found(admin_client, provider="new") == {"b"}


def test_by_day(admin_client):
    made_at = datetime(2026, 3, 5, 12, tzinfo=UTC)
    for name, day in (("a", 0), ("b", 1), ("c", 2)):
        when = made_at + timedelta(days=day)
        Chore.objects.create(id=UUID(int=smallest_id(when).int | 7), name=name, created_at=when)

    assert found(admin_client, created_at_from="2026-03-06") == {"b", "c"}
    assert found(admin_client, created_at_to="2026-03-06") == {"a", "b"}
    assert found(admin_client, created_at_from="2026-03-06", created_at_to="2026-03-06") == {"b"}
    assert found(admin_client, created_at_from="no day") == {"a", "b", "c"}


def test_an_id_is_never_smaller_than_its_moment():
    before = datetime.now(UTC)
    time.sleep(0.002)

    assert smallest_id(before) < uuid7() < smallest_id(before + timedelta(hours=1))


def test_a_search_finds_an_id_and_nothing_else(admin_client):
    job, _ = new_chore("a"), new_chore("b")

    assert found(admin_client, q=str(job.id)) == {"a"}
    assert found(admin_client, q="sweep'; --") == set()
    assert found(admin_client, q="\x00") == {"a", "b"}


def test_texts_of_errors_are_searched_among_failures_only(admin_client):
    in_state(Status.FAILED, "a", "b")
    Chore.objects.filter(name="a").update(last_error="The well is dry.")

    assert found(admin_client, q="well", status__exact="failed") == {"a"}
    assert found(admin_client, q="well") == set()


def test_queued_jobs_are_listed_in_turn(admin_client):
    new_chore("later")
    new_chore("first", priority=-1)

    page = admin_client.get(LIST, {"status__exact": "queued"})

    assert [job.name for job in page.context["cl"].result_list] == ["first", "later"]


def test_a_list_needs_as_many_queries_for_fifty_jobs_as_for_five(admin_client):
    in_state(Status.FAILED, *(f"{number}" for number in range(5)))
    admin_client.get(LIST)
    with CaptureQueriesContext(connection) as few:
        admin_client.get(LIST)
    in_state(Status.FAILED, *(f"more {number}" for number in range(45)))

    with CaptureQueriesContext(connection) as many:
        admin_client.get(LIST)

    assert len(many) == len(few)


@pytest.mark.parametrize("model", ["attempt", "call"])
@pytest.mark.parametrize("term", ["nonsense", "01a1e4ba-9bc0-79f9-bc15-8c8a0375ae09"])
def test_a_search_for_what_is_not_there_finds_nothing(admin_client, model, term):
    page = admin_client.get(reverse(f"admin:jobs_{model}_changelist"), {"q": term})

    assert page.status_code == 200
    assert page.context["cl"].result_count == 0


# Addresses made by hand


@pytest.mark.parametrize(
    ("model", "question"),
    [
        ("testapp_chore", "last_error__icontains"),
        ("testapp_chore", "status__icontains"),
        ("testapp_chore", "finished_at__gt"),
        ("jobs_attempt", "traceback__icontains"),
        ("jobs_call", "error__contains"),
        ("guides_guide", "summary__icontains"),
        ("guides_spotdetail", "description__icontains"),
        ("guides_spotimage", "prompt__icontains"),
    ],
)
def test_only_the_filters_may_be_asked(admin_client, model, question):
    page = admin_client.get(reverse(f"admin:{model}_changelist"), {question: "1"})

    assert page.status_code == 400


@pytest.mark.parametrize(
    "model", ["testapp_chore", "jobs_attempt", "jobs_call", "guides_guide", "guides_spotimage"]
)
def test_nobody_orders_a_list_by_its_address(admin_client, model):
    url = reverse(f"admin:{model}_changelist")
    usual = admin_client.get(url).context["cl"].queryset.query.order_by

    for column in ("1", "3", "-4"):
        cl = admin_client.get(url, {"o": column}).context["cl"]
        assert cl.queryset.query.order_by == usual


def test_the_filters_themselves_are_still_asked(admin_client):
    url = reverse("admin:jobs_call_changelist")
    question = {"state__exact": "stored", "seen": "no", "provider": "x"}

    page = admin_client.get(url, {**question, "started_at_from": "2026-01-01"})

    assert page.status_code == 200
