"""Pictures by tomorrow: the choice, its prices, and what becomes of it."""

import re

import pytest
from django.db import IntegrityError, connection, transaction

from guides import images
from guides.models import Guide, SpotDetail, SpotImageJob
from jobs.errors import TooDear
from jobs.models import Provider
from jobs.paid import calls, limits
from tests.guides import making
from tests.guides.batches import have_provider, put_into_batch
from tests.guides.conftest import save_guide
from tests.guides.making import type_in
from tests.guides.painting import claim, perform

pytestmark = pytest.mark.django_db
staff = making.staff


@pytest.fixture
def paid(settings):
    """A provider that offers batches."""
    have_provider(settings)


def choices(page):
    return re.findall(r'name="picture_strategy" value="(\w*)" (checked)?', page.content.decode())


# The form


def test_both_prices_are_told_with_the_choice(staff, paid):
    page = staff.get("/guides/new/")

    text = page.content.decode()
    assert choices(page) == [("sync", "checked"), ("batch", "")]
    assert "by tomorrow, half the price" in text
    assert "0.04 USD a picture" in text
    assert "0.02 USD a picture" in text


def test_another_discount_is_not_called_half(staff, paid):
    Provider.objects.update(batch_percent=75)

    text = staff.get("/guides/new/").content.decode()

    assert "by tomorrow, at 75% of the price" in text
    assert "0.03 USD a picture" in text
    assert "half the price" not in text


def test_the_usual_way_of_the_provider_is_chosen_already(staff, paid):
    Provider.objects.update(strategy="batch")

    page = staff.get("/guides/new/")

    assert choices(page) == [("sync", ""), ("batch", "checked")]
    assert "Price of each picture: 0.02 USD" in page.content.decode()


def test_without_a_price_none_is_told(staff, paid):
    Provider.objects.update(price=0)

    page = staff.get("/guides/new/")

    assert len(choices(page)) == 2
    assert "a picture</span>" not in page.content.decode()


def test_where_there_are_no_batches_nothing_is_offered(staff):
    assert choices(staff.get("/guides/new/")) == []


def test_a_service_that_turned_out_to_have_no_batches_is_not_offered(staff, paid):
    Provider.objects.update(batch_note="404")

    assert choices(staff.get("/guides/new/")) == []


@pytest.mark.parametrize("strategy", ["", "sync", "batch"])
def test_the_choice_is_saved(staff, paid, strategy):
    type_in(staff, picture_strategy=strategy)

    assert Guide.objects.get().picture_strategy == strategy


def test_an_older_page_can_still_be_sent_where_nothing_is_offered(staff):
    assert type_in(staff, picture_strategy="batch").status_code == 302

    assert Guide.objects.get().picture_strategy == ""


def test_an_unknown_strategy_is_refused_and_the_choice_kept(staff, paid):
    answer = type_in(staff, picture_strategy="never")

    assert answer.status_code == 400
    assert "never is not one of the available choices." in answer.content.decode()


def test_a_fault_elsewhere_keeps_the_choice(staff, paid):
    answer = type_in(staff, title="", picture_strategy="batch")

    assert choices(answer) == [("sync", ""), ("batch", "checked")]


# The API


def handed_over(**more):
    spots = [{"name": "Gate"}]
    return {"plan_id": "kyoto", "title": "Kyoto", "spots": spots, **more}


def test_a_guide_may_be_handed_over_with_its_strategy(send):
    answer = send(handed_over(picture_strategy="batch"))

    assert answer.status_code == 201
    assert Guide.objects.get().picture_strategy == "batch"
    assert send(handed_over(picture_strategy="batch")).json()["result"] == "unchanged"
    assert send(handed_over(picture_strategy="sync")).json()["result"] == "updated"
    assert Guide.objects.get().picture_strategy == "sync"


@pytest.mark.parametrize("wrong", ["later", 1, None])
def test_a_wrong_strategy_is_named(send, wrong):
    answer = send(handed_over(picture_strategy=wrong))

    [fault] = answer.json()["error"]["fields"][:1]
    assert answer.status_code == 400
    assert fault["field"] == "picture_strategy"
    if wrong == "later":
        assert fault["text"] == "Use one of sync, batch, or leave it out."
    assert not Guide.objects.exists()


# The row


def test_plain_sql_needs_no_strategy_and_no_other_is_accepted():
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO guides (plan_id, title) VALUES ('kyoto', 'Kyoto')")
    assert Guide.objects.get().picture_strategy == ""

    with pytest.raises(IntegrityError), transaction.atomic():
        Guide.objects.update(picture_strategy="never")


# The purchase


@pytest.mark.parametrize("strategy", ["", "sync", "batch"])
def test_the_guides_strategy_reaches_the_purchase(pictures, monkeypatch, strategy):
    asked, buy = [], calls.buy
    monkeypatch.setattr(calls, "buy", lambda *a, **more: asked.append(more) or buy(*a, **more))
    save_guide("Gate")
    Guide.objects.update(picture_strategy=strategy)
    [job] = claim(["Gate"])

    perform(job)

    prompt = images.request_for(SpotDetail.objects.get()).prompt
    most = (len(prompt.encode()), images.MOST_TOKENS)
    request = {"form": "picture", "prompt": prompt}
    assert asked == [{"request": request, "most_tokens": most, "strategy": strategy}]


def test_the_strategy_makes_no_other_picture():
    save_guide("Gate")
    before = images.request_for(SpotDetail.objects.get()).payload_hash
    Guide.objects.update(picture_strategy="batch")

    assert images.request_for(SpotDetail.objects.get()).payload_hash == before


# From batch to now


def is_due():
    return SpotImageJob.objects.due().exists()


def test_a_guide_that_is_put_as_sync_has_its_pictures_made_now(paid, send):
    send(handed_over(picture_strategy="batch"))
    put_into_batch("Gate")
    assert not is_due()

    send(handed_over(picture_strategy="sync"))

    assert is_due()


def test_a_strategy_that_is_left_out_stays_as_it_is(paid, send):
    send(handed_over(picture_strategy="batch"))
    put_into_batch("Gate")

    again, changed = send(handed_over()), send(handed_over(title="Old Kyoto"))

    assert [each.json()["result"] for each in (again, changed)] == ["unchanged", "updated"]
    assert Guide.objects.get().picture_strategy == "batch"
    assert not is_due()


def test_only_now_hurries_pictures(paid, send):
    """The provider's own strategy is left to the collector: at once would be the full price."""
    send(handed_over(picture_strategy="batch"))
    put_into_batch("Gate")

    send(handed_over(picture_strategy=""))

    assert Guide.objects.get().picture_strategy == ""
    assert not is_due()


def test_other_changes_hurry_nothing(paid, send):
    send(handed_over(picture_strategy="batch"))
    put_into_batch("Gate")

    send(handed_over(picture_strategy="batch", title="Old Kyoto"))

    assert not is_due()


def test_an_editor_hurries_the_pictures_in_the_admin(paid, admin_client):
    save_guide("Gate")
    Guide.objects.update(picture_strategy="batch")
    put_into_batch("Gate")
    spots = {"spots-TOTAL_FORMS": 0, "spots-INITIAL_FORMS": 0}

    form = {"title": "Kyoto", "picture_strategy": "sync", **spots}
    page = admin_client.post("/admin/guides/guide/kyoto/change/", form, follow=True)

    assert "1 picture that waited for a batch is made now." in page.content.decode()
    assert is_due()


def test_a_picture_that_costs_tokens_is_booked_before_it_is_made(pictures):
    name = SpotImageJob.provider_name()
    limits.find(name)
    Provider.objects.update(price=0, output_price=100, daily_budget="0.1")
    save_guide("Gate")
    [job] = claim(["Gate"])

    with pytest.raises(TooDear, match=r"may cost 0\.8"):
        perform(job)
