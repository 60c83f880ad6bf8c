"""/guides/new/?write: a person says where to, sees the price, and gets a page at once."""

import re

import pytest

from guides.models import Guide
from jobs.llm.models import LLMJob
from jobs.models import Provider
from jobs.paid import limits
from tests.guides.making import staff
from tests.guides.writing.writers import manuscript

__all__ = ["staff"]  # a fixture
pytestmark = pytest.mark.django_db

PAGE = "/guides/new/?write"
WISH = {"destination": "Lisbon", "days": "2", "spots": "5", "language": "en", "tone": "calm"}


def plan_key(client):
    page = client.get(PAGE).content.decode()
    return re.search(r'name="plan_key" value="([^"]+)"', page)[1]


def send(client, **fields):
    return client.post(PAGE, WISH | fields)


def test_both_ways_are_offered_without_a_script(staff):
    for address in ("/guides/new/", PAGE):
        page = staff.get(address).content.decode()
        assert 'href="/guides/new/?write"' in page
        assert page.count('aria-current="page"') == 1


def test_the_guide_is_there_at_once(staff):
    answer = send(staff, interests="fado", tone="lively")

    guide = Guide.objects.get()
    assert answer.url == guide.get_absolute_url()
    assert guide.plan_id.startswith("lisbon-")
    assert (manuscript(guide.pk).interests, manuscript(guide.pk).tone) == ("fado", "lively")
    assert manuscript(guide.pk).asked_by == "author"
    assert "Being written" in staff.get(answer.url).content.decode()


def test_sent_twice_it_makes_one_guide(staff):
    key = plan_key(staff)

    for _ in range(2):
        answer = send(staff, plan_key=key)

    assert answer.status_code == 302
    assert Guide.objects.count() == LLMJob.objects.count() == 1


def test_sent_again_with_other_words_it_says_so(staff):
    key = plan_key(staff)
    send(staff, plan_key=key)

    answer = send(staff, plan_key=key, days="9")

    assert answer.status_code == 400
    assert "has made another guide already" in answer.content.decode()
    assert Guide.objects.count() == 1


def test_a_draft_that_is_typed_after_all_is_not_written_any_more(staff):
    key = plan_key(staff)
    send(staff, plan_key=key)

    staff.post("/guides/new/", {"title": "Mine", "spots": "Gate", "plan_key": key})

    assert Guide.objects.get().title == "Mine"
    assert LLMJob.objects.get().status == "canceled"


@pytest.mark.parametrize(
    "wrong",
    [
        {"destination": " "},
        {"destination": "\u202eLisbon"},
        {"destination": "x" * 201},
        {"days": "0"},
        {"days": "31"},
        {"spots": "0"},
        {"spots": "31"},
        {"spots": "many"},
        {"interests": "x" * 501},
        {"language": "tlh"},
        {"tone": "loud"},
        {"picture_style": "crayon"},
    ],
)
def test_a_mistake_is_told_beside_its_field(staff, wrong):
    answer = send(staff, **wrong)

    assert answer.status_code == 400
    assert 'class="errors"' in answer.content.decode()
    assert not Guide.objects.exists()


def test_what_costs_nothing_says_so(staff):
    page = staff.get(PAGE).content.decode()

    assert "The texts are free of charge." in page
    assert "The pictures are free of charge." in page


def test_prices_of_texts_and_pictures_are_told_before_saving(staff, settings):
    settings.LLM_PROVIDER, settings.GEMINI_TEXT_MODEL = "gemini", "quill"
    settings.IMAGE_PROVIDER, settings.GEMINI_MODEL = "gemini", "sketch"
    limits.find("gemini:sketch")
    limits.find(LLMJob.provider_name())
    Provider.objects.filter(name="gemini:sketch").update(price="0.04")

    page = staff.get(PAGE).content.decode()
    assert "The price of the texts is not known." in page
    assert "Price of each picture: 0.04 USD" in page

    Provider.objects.filter(name=LLMJob.provider_name()).update(price="0.01")
    page = staff.get(PAGE).content.decode()
    assert "Texts for 8 spots: about 0.09 USD" in page


def test_only_who_may_make_guides_may_wish_for_one(client, viewer):
    assert viewer.get(PAGE).status_code == 403
    assert send(viewer).status_code == 403
    assert not Guide.objects.exists()
