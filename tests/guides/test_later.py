"""Pictures that come by batch: the page is honest for a day, and nobody else waits for them."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now
from django.utils import translation

from guides import pace, services
from guides.models import Guide, SpotImageJob
from guides.status import GuideStatus
from jobs import queue
from jobs.errors import InBatch
from jobs.models import Call, Provider
from jobs.paid.batches import asked
from jobs.queue import outcomes
from tests.guides import schema
from tests.guides.batches import by_batch, have_provider, put_into_batch
from tests.guides.conftest import save_guide
from tests.guides.history import have_worker, remember
from tests.guides.pages import change, home_address, poll_address
from tests.guides.painting import claim, perform
from tests.guides.statuses import show

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def paid(settings):
    """A provider that offers batches, and workers whose pace is known."""
    have_provider(settings, requests_per_minute=None, daily_budget=None)
    remember(3, seconds=10)
    have_worker(slots=1)


def page(client, path="/guides/kyoto/"):
    return client.get(path).content.decode()


def test_a_picture_by_batch_is_left_to_the_batch(client, pictures):
    save_guide("Gate")
    Guide.objects.update(picture_strategy="batch")
    [job] = claim(["Gate"])

    with pytest.raises(InBatch) as waits:
        perform(job)
    queue.settle([outcomes.from_error(job, waits.value)])

    call = Call.objects.get()
    assert (call.state, call.strategy, call.request["form"]) == ("waiting", "batch", "picture")
    assert "Arrives by tomorrow" in page(client)


# What visitors see


@pytest.mark.parametrize("facts", [{}, {"state": "intent", "batch_id": "0" * 32}])
def test_the_page_says_when_it_arrives_and_asks_seldom(client, facts):
    by_batch("Gate", "Pond", **facts)

    shown = page(client)

    assert shown.count("Arrives by tomorrow") == 2
    assert "they arrive by tomorrow" in shown
    assert "On its way" not in shown
    assert "progress-going" not in shown
    assert "data-seldom" in shown
    assert 'http-equiv="refresh" content="600"' in shown


def test_it_says_so_in_japanese(client):
    by_batch("Gate")

    with translation.override("ja"):
        shown = client.get("/guides/kyoto/", headers={"Accept-Language": "ja"}).content.decode()

    assert shown.count("明日までに届きます") == 2


def test_a_job_that_no_worker_has_seen_yet_says_so_too(client):
    save_guide("Gate")
    Guide.objects.update(picture_strategy="batch")

    assert "Arrives by tomorrow" in page(client)


def test_the_providers_strategy_counts_where_the_guide_has_none(client):
    save_guide("Gate")
    Provider.objects.update(strategy="batch")
    assert "Arrives by tomorrow" in page(client)

    Guide.objects.update(picture_strategy="sync")
    assert "Arrives by tomorrow" not in page(client)


def test_a_pause_says_more_than_a_batch_that_is_still_to_come(client):
    save_guide("Gate")
    Guide.objects.update(picture_strategy="batch")
    Provider.objects.update(paused=True)

    assert "painting is paused for now" in page(client)


def test_after_a_day_tomorrow_is_not_promised_again(client, ask):
    by_batch("Gate", ago=timedelta(hours=25))

    shown = page(client)

    assert "it takes longer than a day this time" in shown
    assert "Takes a little longer" in shown
    assert "tomorrow" not in shown + ask().json()["spots"][0]["waits_for"]["text"]


def test_some_arrive_now_and_some_tomorrow(client):
    save_guide("Gate", "Pond")
    put_into_batch("Pond")

    shown = page(client)

    assert "the last ones arrive by tomorrow" in shown
    assert shown.count("Arrives by tomorrow") == shown.count("On its way…") == 1
    assert "data-seldom" not in shown


def test_a_poll_brings_the_words_when_a_picture_joins_a_batch(client):
    save_guide("Gate")
    address = poll_address(page(client))
    put_into_batch("Gate")

    news = page(client, address)

    assert "Arrives by tomorrow" in news
    assert "data-seldom" in news
    assert client.get(poll_address(news)).status_code == 204


def test_the_fragment_of_one_spot_says_the_same(client):
    by_batch("Gate")
    spot = GuideStatus("kyoto").spots[0]

    assert "Arrives by tomorrow" in page(client, f"/guides/kyoto/spots/{spot.pk}/image/")
    assert client.get("/guides/kyoto/spots/0/image/").status_code == 404


def test_a_picture_that_is_to_be_replaced_stays(client):
    by_batch("Gate")
    change("Gate", image_url="/pictures/" + "ab" * 32 + "/1024.webp")

    shown = page(client)

    assert "Arrives by tomorrow" not in shown
    assert "data-seldom" in shown


def test_home_asks_seldom_while_all_come_by_batch(client):
    by_batch("Gate")
    shown = page(client, "/")
    assert "Arrives by tomorrow" in shown
    assert "data-seldom" in shown
    assert client.get(home_address(shown)).status_code == 204

    save_guide("Tower", plan_id="paris")
    assert "data-seldom" not in page(client, "/")


# The status API


def test_the_api_says_so_and_when_to_ask_again(ask):
    by_batch("Gate")

    status = ask().json()

    assert schema.faults(status, {"$ref": "#/components/schemas/Status"}) == []
    assert status["seconds_expected"] is None
    assert status["poll_after_seconds"] == 600
    assert status["spots"][0]["waits_for"] == {
        "reason": "batch",
        "text": "arrives by tomorrow",
        "until": None,
        "position": None,
    }


def test_joining_a_batch_changes_the_etag(ask):
    save_guide("Gate")
    etag = ask().headers["ETag"]

    put_into_batch("Gate")

    assert ask(**{"If-None-Match": etag}).status_code == 200
    assert ask(**{"If-None-Match": ask().headers["ETag"]}).status_code == 304


def test_the_rest_of_a_mixed_guide_is_asked_for_as_ever(ask):
    save_guide("Gate", "Pond")
    put_into_batch("Pond")

    assert ask().json()["poll_after_seconds"] == 5  # half of ten seconds


def test_a_batch_costs_no_query_per_spot(django_assert_max_num_queries):
    by_batch(*map(str, range(50)))

    with django_assert_max_num_queries(12):
        status = GuideStatus("kyoto")
        assert (status.poll_after, status.time_left) == (600, "they arrive by tomorrow")


# Nobody else waits for them


def test_pictures_in_a_batch_delay_no_others():
    by_batch(*map(str, range(20)))
    SpotImageJob.objects.update(run_after=Now() - timedelta(minutes=1))  # woken, or not seen yet
    save_guide("Tower", plan_id="paris")

    [estimate] = GuideStatus("paris").estimates.values()

    assert estimate.position == 0
    assert estimate.seconds == pytest.approx(10, abs=1)


def test_pictures_that_will_join_a_batch_delay_no_others():
    save_guide(*map(str, range(20)))
    Guide.objects.update(picture_strategy="batch")
    save_guide("Tower", plan_id="paris")

    assert GuideStatus("paris").seconds == pytest.approx(10, abs=1)


def test_where_batches_are_usual_only_the_hurried_stand_in_line():
    save_guide(*map(str, range(20)))
    Provider.objects.update(strategy="batch")
    save_guide("Tower", plan_id="paris")
    Guide.objects.filter(pk="paris").update(picture_strategy="sync")

    assert GuideStatus("paris").seconds == pytest.approx(10, abs=1)


def test_a_retry_does_not_wait_for_pictures_in_a_batch():
    save_guide(*map(str, range(20)))
    put_into_batch(*map(str, range(20)))
    SpotImageJob.objects.update(run_after=Now() + timedelta(seconds=10))
    save_guide("Tower", plan_id="paris")
    retry = SpotImageJob.objects.filter(plan_id="paris")
    retry.update(run_after=Now() + timedelta(seconds=1000))

    assert 900 < GuideStatus("paris").seconds <= 1011  # it shrinks while the test runs


def test_a_job_that_hurries_stands_in_line_again():
    by_batch("Gate")
    Guide.objects.update(picture_strategy="sync")

    assert services.hurry_pictures(Guide.objects.get()) == 1

    assert GuideStatus("kyoto").seconds == pytest.approx(10, abs=1)


@pytest.mark.parametrize("strategy", ["sync", "batch"])
def test_a_job_that_an_operator_hurries_stands_in_line_though_its_guide_waits(strategy):
    by_batch("Gate")
    Provider.objects.update(strategy=strategy)

    asked.hurry(Call.objects.all())

    assert GuideStatus("kyoto").seconds == pytest.approx(10, abs=1)


@pytest.mark.parametrize("outcome", ["succeeded", "snoozed"])
def test_the_moments_of_joining_and_leaving_a_batch_are_no_pace(outcome):
    remember(30, seconds=0.2, outcome=outcome, steps={"prompt": 5, "store": 100})

    assert len(pace.last_made()) == 3
    assert pace.find_pace(None).held == pytest.approx(10, abs=0.1)


def test_a_finished_guide_looks_for_no_batch(django_assert_max_num_queries):
    by_batch("Gate")
    show("Gate")

    with django_assert_max_num_queries(1):
        assert GuideStatus("kyoto").poll_after is None
