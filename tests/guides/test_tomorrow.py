"""\"By tomorrow\" is said only where it is true, by the guide's page and by home alike."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now
from django.db.models.signals import post_init

from guides.models import Guide, SpotDetail, SpotImageJob
from jobs.errors import ProviderUnavailable
from jobs.models import Call, Provider
from jobs.paid import limits
from jobs.paid.batches import asked, members
from tests.guides.batches import by_batch, have_provider, put_into_batch
from tests.guides.conftest import save_guide
from tests.guides.pages import OURS, change, home_address

pytestmark = pytest.mark.django_db

PAUSED = "painting is paused for now"
USED_UP = "today’s pictures are used up; more tomorrow"
LATE = "it takes longer than a day this time"
SENT = {"state": "intent", "batch_id": "0" * 32}
LONG = timedelta(hours=25)


@pytest.fixture(autouse=True)
def paid(settings):
    have_provider(settings, requests_per_minute=None, daily_budget=None)


def pages(client):
    return [client.get(path).content.decode() for path in ("/guides/kyoto/", "/")]


def spend(amount):
    provider = limits.find("gemini:sketch")
    Provider.objects.update(spent=amount, spent_on=provider.booking_day)


# What holds a batch


@pytest.mark.few(4)
@pytest.mark.parametrize("strategy", ["sync", "batch"])
@pytest.mark.parametrize(
    ("facts", "spent", "words"),
    [
        ({"paused": True}, 0, PAUSED),
        ({"price": 0, "daily_budget": 1}, 0, PAUSED),
        ({"price": 0, "daily_budget": 0}, 0, PAUSED),
        ({"daily_budget": "0.01"}, 0, PAUSED),
        ({"daily_budget": "0.05"}, "0.04", USED_UP),
        ({"daily_budget": "0.03"}, "0.02", USED_UP),  # half of 0.04 is enough
    ],
)
def test_a_call_that_no_batch_takes_is_not_promised(client, ask, strategy, facts, spent, words):
    by_batch("Gate")
    Provider.objects.update(strategy=strategy, **facts)
    spend(spent)

    guide, home = pages(client)

    assert words in guide
    assert "rrives by tomorrow" not in guide + home
    assert ask().json()["spots"][0]["waits_for"]["reason"] in ("paused", "price", "budget")
    assert ask().json()["seconds_expected"] is None


@pytest.mark.parametrize("facts", [{"paused": True}, {"daily_budget": "0.01"}])
def test_a_batch_that_was_sent_arrives_all_the_same(client, facts):
    by_batch("Gate", **SENT)
    Provider.objects.update(**facts)

    assert all("Arrives by tomorrow" in page for page in pages(client))


def test_a_budget_for_the_batch_price_is_enough(client):
    by_batch("Gate")
    Provider.objects.update(daily_budget="0.03")

    assert all("Arrives by tomorrow" in page for page in pages(client))


def test_a_new_picture_waits_for_the_batch_price_alone(client):
    save_guide("Gate")
    Provider.objects.update(strategy="batch", daily_budget="0.03")
    assert all("Arrives by tomorrow" in page for page in pages(client))

    spend("0.02")
    assert USED_UP in pages(client)[0]


def test_pictures_that_a_pause_holds_are_not_the_last_ones_of_tomorrow(client):
    by_batch("Gate", "Pond")
    Call.objects.filter(job_id=SpotImageJob.objects.get(spot_name="Gate").id).update(**SENT)
    Provider.objects.update(paused=True)

    guide, _ = pages(client)

    assert guide.count("Arrives by tomorrow") == 1
    assert PAUSED in guide


# How long it has waited


def test_after_a_day_home_does_not_promise_tomorrow_again(client):
    by_batch("Gate", ago=LONG)

    guide, home = pages(client)

    assert LATE in guide
    assert "Takes a little longer" in home
    assert "tomorrow" not in guide + home


def test_a_poll_of_home_brings_the_news_that_it_is_late(client):
    by_batch("Gate")
    address = home_address(pages(client)[1])

    Call.objects.update(started_at=Now() - LONG)

    assert "Takes a little longer" in client.get(address).content.decode()


def test_a_second_batch_is_no_new_day(client):
    """The first batch expired: what it did not answer waits again, in a new call."""
    by_batch("Gate", ago=LONG, request={}, **SENT)

    members.again(Call.objects.get(), ProviderUnavailable(reason="Its batch expired."))

    assert [call.number for call in Call.objects.order_by("pk")] == [1, 2]
    guide, home = pages(client)
    assert LATE in guide
    assert "tomorrow" not in guide + home


def test_a_call_after_a_person_asked_again_begins_a_new_day(client):
    by_batch("Gate", ago=LONG, request={}, **SENT)
    old = Call.objects.get()
    for _ in range(2):
        members.again(Call.objects.order_by("pk").last(), ProviderUnavailable(reason="Expired."))
        Call.objects.filter(state="waiting").update(**SENT)
    Call.objects.filter(number=2).update(error_kind="PermanentError", excused=True)

    assert Call.objects.filter(key=old.key).count() == 3
    assert all("Arrives by tomorrow" in page for page in pages(client))


def test_without_a_worker_tomorrow_is_not_promised_for_ever(client):
    save_guide("Gate")
    Guide.objects.update(picture_strategy="batch")
    SpotImageJob.objects.update(created_at=Now() - LONG)

    guide, home = pages(client)

    assert LATE in guide
    assert "tomorrow" not in guide + home


# Home asks by what the pictures do


def test_home_asks_often_for_a_picture_that_is_made_at_once_after_all(client):
    by_batch("Gate")
    home = pages(client)[1]
    assert "data-seldom" in home

    asked.hurry(Call.objects.all())

    news = client.get(home_address(home)).content.decode()
    assert "data-seldom" not in news
    assert "On its way" in news


def test_home_asks_often_for_a_picture_whose_answer_has_come(client):
    by_batch("Gate")
    Call.objects.update(state="stored", batch_id="0" * 32)

    assert "data-seldom" not in pages(client)[1]


def test_home_asks_seldom_for_what_is_in_a_batch_whatever_the_guide_says_now(client):
    by_batch("Gate", **SENT)
    Guide.objects.update(picture_strategy="sync")

    home = pages(client)[1]

    assert "data-seldom" in home
    assert "Arrives by tomorrow" in home


def test_the_pace_of_home_changes_under_a_cover_that_stays(client):
    by_batch("Gate", "Pond")
    change("Gate", image_url=OURS, image_status="succeeded")
    SpotImageJob.objects.filter(spot_name="Gate").update(status="succeeded", finished_at=Now())
    home = pages(client)[1]
    assert "data-seldom" in home

    asked.hurry(Call.objects.all())

    assert "data-seldom" not in client.get(home_address(home)).content.decode()


# What it costs


def test_home_costs_no_query_per_guide(client, django_assert_max_num_queries):
    for n in range(5):
        save_guide(*map(str, range(20)), plan_id=f"plan-{n}")
    Guide.objects.update(picture_strategy="batch")
    put_into_batch(*map(str, range(20)))

    with django_assert_max_num_queries(15):
        assert client.get("/").content.decode().count("Arrives by tomorrow") == 5


def test_one_spot_loads_nothing_of_the_others(client):
    by_batch(*map(str, range(50)))
    address = f"/guides/kyoto/spots/{SpotDetail.objects.get(spot_name='7').pk}/image/"
    loaded = []

    def note(sender, **_):
        loaded.append(sender.__name__)

    post_init.connect(note)
    page = client.get(address).content.decode()
    post_init.disconnect(note)

    assert "Arrives by tomorrow" in page
    assert sorted(loaded) == ["Call", "Guide", "Provider", "SpotDetail", "SpotImageJob"]
