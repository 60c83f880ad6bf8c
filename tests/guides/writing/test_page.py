"""The page of a guide that is being written says so, live, and never waits for ever."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db.models.functions import Now

from jobs import queue
from jobs.llm.models import LLMJob
from jobs.models import Provider
from jobs.paid import limits
from tests.guides.pages import home_address, poll_address
from tests.guides.painting import give_up
from tests.guides.writing.writers import (
    TEXT,
    claim,
    describe,
    ended,
    keep,
    outline,
    tell,
    wish,
    written,
)

pytestmark = pytest.mark.django_db


def page(client):
    return client.get("/guides/lisbon/").content.decode()


def poll(client, html):
    return client.get(poll_address(html), headers={"HX-Request": "true"})


def status(client):
    return client.get("/api/guides/lisbon/status/").json()


def test_a_guide_without_its_outline_says_so_and_polls(client):
    wish()

    html = page(client)

    assert "Being written: first the outline" in html
    assert '<meta http-equiv="refresh" content="15">' in html
    assert "This guide is still being written." in html
    assert "This guide has no spots yet." not in html
    assert poll(client, html).status_code == 204


def test_the_names_of_the_outline_are_shown_when_they_are_known(client):
    wish()
    before = page(client)

    tell(outline("Castle & Keep", "Tower"))

    assert poll(client, before).headers["HX-Refresh"] == "true"
    html = page(client)
    assert "<li>Castle &amp; Keep</li>" in html
    assert "Being written: 0 of 2 texts" in html


def test_progress_counts_the_texts_that_are_there(client):
    wish()
    tell(outline("Castle", "Tower", "Tram"))
    before = page(client)

    [first, *_] = claim(LLMJob)
    queue.settle([ended(first, {"description": TEXT})])

    answer = poll(client, before)
    assert answer.status_code == 200
    assert "Being written: 1 of 3 texts" in answer.content.decode()
    assert poll(client, answer.content.decode()).status_code == 204


def test_when_the_texts_are_there_the_page_reloads_and_waits_for_pictures(client):
    wish()
    tell(outline("Castle"))
    before = page(client)

    describe()

    assert poll(client, before).headers["HX-Refresh"] == "true"
    html = page(client)
    assert "Being written" not in html
    assert TEXT in html
    assert "0 of 1 picture ready" in html


def test_a_written_and_painted_guide_is_final(client):
    written("Castle")
    give_up("Castle")

    html = page(client)

    assert poll_address(html) is None
    assert status(client)["final"]
    assert status(client)["writing"] is None


def test_a_failed_guide_is_calm_and_final(client):
    wish()
    tell(None)

    html = page(client)

    assert "This guide could not be written yet." in html
    assert "the model refuses" not in html
    assert poll_address(html) is None
    assert "http-equiv" not in html


def test_staff_read_why_it_failed(client):
    wish()
    tell(None)
    client.force_login(User.objects.create_superuser("chief"))

    assert "the model refuses" in page(client)


def test_home_says_that_a_guide_is_being_written(client):
    wish()

    html = client.get("/").content.decode()
    assert "Being written" in html
    assert client.get(home_address(html)).status_code == 204

    tell(None)
    answer = client.get(home_address(html))
    assert answer.status_code == 286
    assert "Not written yet" in answer.content.decode()


def test_many_guides_being_written_cost_home_no_more_queries(client, django_assert_max_num_queries):
    for n in range(10):
        wish(plan_id=f"lisbon-{n}")

    with django_assert_max_num_queries(12):
        client.get("/")


def test_the_api_tells_how_far_the_writing_is(client):
    wish()
    assert status(client)["writing"] == {
        "state": "outline",
        "text": "Being written: first the outline",
        "texts": {"total": 0, "ready": 0},
        "coming": [],
        "delay": None,
    }
    assert (status(client)["final"], status(client)["percent"]) == (False, 0)
    assert status(client)["poll_after_seconds"] == 5

    tell(outline("Castle", "Tower"))

    assert status(client)["writing"]["coming"] == ["Castle", "Tower"]
    assert status(client)["writing"]["texts"] == {"total": 2, "ready": 0}


def test_the_etag_changes_with_every_step(client):
    wish()
    tags = {client.get("/api/guides/lisbon/status/").headers["ETag"]}
    tell(outline("Castle"))
    tags.add(client.get("/api/guides/lisbon/status/").headers["ETag"])
    describe(default=None)
    tags.add(client.get("/api/guides/lisbon/status/").headers["ETag"])

    assert len(tags) == 3


def test_a_kept_answer_that_nobody_keeps_yet_is_still_being_written(client):
    wish()
    tell(outline("Castle"))
    [job] = claim(LLMJob)
    queue.settle([ended(job, {"description": TEXT})])

    assert "Being written: 1 of 1 text" in page(client)
    keep()
    assert "Being written" not in page(client)


# By batch


@pytest.fixture
def by_batch(settings):
    settings.LLM_PROVIDER, settings.GEMINI_TEXT_MODEL = "gemini", "quill"
    limits.find(LLMJob.provider_name())
    Provider.objects.update(strategy="batch", price="0.01")


def test_texts_by_batch_arrive_by_tomorrow(client, by_batch):
    wish()

    html = page(client)

    assert "arrives by tomorrow" in html
    assert "data-seldom" in html
    assert '<meta http-equiv="refresh" content="600">' in html
    assert status(client)["poll_after_seconds"] == 600
    home = client.get("/").content.decode()
    assert "data-seldom" in home


def test_after_a_day_by_tomorrow_is_not_said_any_more(client, by_batch):
    wish()
    LLMJob.objects.update(created_at=Now() - timedelta(hours=25))

    assert "it takes longer than a day this time" in page(client)


def test_a_paused_provider_promises_nothing(client, by_batch):
    wish()
    Provider.objects.update(paused=True)

    html = page(client)

    assert "writing is paused for now" in html
    assert "by tomorrow" not in html
