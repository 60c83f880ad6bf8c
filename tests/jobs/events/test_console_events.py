"""The pages of events: bounded, escaped, and with links to the jobs."""

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from jobs import events
from jobs.errors import PermanentError
from jobs.events.models import EventJob
from jobs.models import Event
from tests.jobs.console.pages import EVIL, cards_of
from tests.jobs.events.conftest import job_of, meet, ring

pytestmark = pytest.mark.django_db

LIST = reverse("admin:jobs_event_changelist")


def shown(client, **query):
    """The events in the list, in its order."""
    page = client.get(LIST, query)
    assert page.status_code == 200
    return list(page.context["cl"].result_list)


def test_the_list_shows_the_newest_first_with_their_states(operator, worker):
    failed, processed, waiting = ring("failed"), ring("processed"), ring("waiting")
    worker.fail(worker.claim_one(), PermanentError("no"))
    worker.succeed(worker.claim_one())

    page = operator.get(LIST).text

    assert {event.pk for event in shown(operator)} == {failed.pk, processed.pk, waiting.pk}
    for words in ("a job failed", "not processed yet", "processed", "bell.rung"):
        assert words in page


def test_those_not_processed_come_oldest_first(operator, worker):
    first, second = ring("a"), ring("b")
    worker.succeed(worker.claim_one())
    third = ring("c")

    assert shown(operator, processed="no") == [second, third]
    assert shown(operator, processed="yes") == [first]


def test_the_list_is_filtered_by_a_known_kind(operator):
    bell, pair = ring("a"), meet()

    assert shown(operator, kind="bell.rung") == [bell]
    assert shown(operator, kind="pair.met", processed="no") == [pair]
    assert shown(operator, kind="unknown") == []


def test_an_event_is_found_by_its_id_and_its_key(operator):
    event = events.record("shop", "bell.rung", dedupe_key="order 42").event
    events.record("bank", "bell.rung", dedupe_key="order 43")

    assert shown(operator, q=str(event.pk)) == [event]
    assert shown(operator, q=" order 42 ") == [event]
    assert shown(operator, q="order") == []
    assert operator.get(LIST, {"q": "order\x00"}).status_code == 200


@pytest.mark.parametrize("query", [{}, {"processed": "no"}, {"q": "k"}, {"kind": "bell.rung"}])
def test_the_number_of_queries_does_not_depend_on_how_many_there_are(
    operator, django_assert_max_num_queries, query
):
    for number in range(30):
        events.record("shop", "bell.rung", {"n": number}, dedupe_key=f"k{number}")

    with django_assert_max_num_queries(14):
        operator.get(LIST, query)


def test_the_page_shows_the_payload_escaped_and_links_its_jobs(operator, worker):
    event = events.record(
        "<b>shop</b>", "bell.rung", {"do": "fail for good", "evil": EVIL}, dedupe_key="<i>k</i>"
    ).event
    worker.drain()

    page = cards_of(operator, event)

    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page
    assert "&lt;b&gt;shop&lt;/b&gt;" in page
    assert "will never ring" in page
    assert reverse("admin:jobs_eventjob_change", args=[job_of(event).pk]) in page


def test_the_page_of_a_job_shows_its_event(operator):
    event = ring(EVIL)

    page = cards_of(operator, job_of(event))

    assert reverse("admin:jobs_event_change", args=[event.pk]) in page
    assert "&lt;script&gt;alert" in page


def test_a_payload_that_is_very_long_is_cut(operator):
    event = ring("x" * 90_000)

    assert "more letters" in cards_of(operator, event)


def test_an_event_without_jobs_says_so(operator):
    event = events.record("shop", "leaf.fell").event

    assert "It has none" in cards_of(operator, event)


def test_the_list_of_its_jobs_names_the_events_in_a_fixed_number_of_queries(
    operator, django_assert_num_queries
):
    address = reverse("admin:jobs_eventjob_changelist")
    meet()
    operator.get(address)
    with CaptureQueriesContext(connection) as for_two:
        operator.get(address)
    for _ in range(19):
        meet()

    with django_assert_num_queries(len(for_two)):
        page = operator.get(address)

    assert page.text.count("pair.met (test)") == 40


def test_nobody_edits_or_deletes_an_event(admin_client):
    event = ring("bell")
    Event.objects.update(processed_at=Now())
    change = reverse("admin:jobs_event_change", args=[event.pk])
    delete = reverse("admin:jobs_event_delete", args=[event.pk])

    admin_client.post(change, {"kind": "other"})
    admin_client.post(delete, {"post": "yes"})
    admin_client.post(LIST, {"action": "delete_selected", "_selected_action": [event.pk]})

    assert Event.objects.get().kind == "bell.rung"


def test_viewers_see_events_and_others_do_not(viewer, client, django_user_model):
    ring("bell")
    assert len(shown(viewer)) == 1

    client.force_login(django_user_model.objects.create_user("nobody", is_staff=True))

    assert client.get(LIST).status_code == 403


def test_an_operator_requeues_a_failed_handler_from_its_page(operator, worker):
    event = ring("bell", do="fail for good")
    worker.drain()

    operator.post(reverse("admin:jobs_eventjob_act", args=[job_of(event).pk, "requeue"]))

    assert EventJob.objects.get().status == "queued"


def test_deleting_a_failed_job_in_the_console_processes_its_event(operator, worker):
    event = ring("bell", do="fail for good")
    worker.drain()

    operator.post(reverse("admin:jobs_eventjob_act", args=[job_of(event).pk, "remove"]))

    assert not EventJob.objects.exists()
    assert Event.objects.get().processed_at
    assert "Events" in operator.get(reverse("admin:index")).text
