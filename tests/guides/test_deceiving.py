"""Titles and names that can't be seen, or that turn their line around."""

import json

import pytest
from django.core.exceptions import ValidationError

from guides import validators
from guides.models import Guide, SpotDetail
from tests.guides.painting import paint

pytestmark = pytest.mark.django_db(transaction=True)

UNSEEN = ["\u200b", "\u3164", "\u2800\u2060", " \u200d\ufe0f ", "\u00ad", "\u0301", "\U000e0041"]
TURNED = ["Kyoto\u202egpj", "\u2066Kyoto", "Ky\u202doto\u202c", "\u2067\u2069Gate"]
SEEN = ["東京　駅", "👩‍👩‍👧", "❤️", "نُزهة\u200f", "ශ්‍රී", "-", "Café", "a\u200bb", "９"]
SENTENCE = "turns the line around|only characters that can't be seen"


@pytest.mark.parametrize("text", [*UNSEEN, *TURNED])
def test_deceiving_texts_are_refused(text):
    with pytest.raises(ValidationError, match=SENTENCE):
        validators.check_text(text, 200)


@pytest.mark.parametrize("text", SEEN)
def test_honest_texts_are_taken(text):
    validators.check_text(text, 200)


def test_a_paragraph_may_hold_what_other_programs_copy_along():
    validators.check_text("Call \u2068075\u2069.\u2028Then go.", 200, lines=True)


@pytest.mark.parametrize("text", [UNSEEN[0], TURNED[0]])
def test_the_form_for_a_new_guide_refuses_them(admin_client, text):
    titled = admin_client.post("/guides/new/", {"title": text, "spots": "Gate"})
    named = admin_client.post("/guides/new/", {"title": "Kyoto", "spots": f"Gate\n{text}"})

    assert (titled.status_code, named.status_code) == (400, 400)
    for page in (titled.text, named.text):
        assert "turns the line around: U+202E" in page or "can&#x27;t be seen" in page
    assert not Guide.objects.exists()


@pytest.mark.parametrize("text", [UNSEEN[0], TURNED[0]])
def test_the_api_refuses_them(send, text):
    guide = {"plan_id": "kyoto", "title": text, "spots": [{"name": text}]}

    answer = send(json.dumps(guide))

    assert answer.status_code == 400
    assert [fault["field"] for fault in answer.json()["error"]["fields"]] == [
        *("title", "spots[0].name"),
    ]


@pytest.mark.parametrize("text", [UNSEEN[0], TURNED[0]])
def test_the_admin_refuses_them(admin_client, text):
    form = {"plan_id": "kyoto", "title": text, "destination": text, "summary": ""}
    spots = {"TOTAL_FORMS": 1, "INITIAL_FORMS": 0, "0-spot_name": text, "0-position": 0}
    spots |= {"0-topic_tags": "[]"}

    answer = admin_client.post(
        "/admin/guides/guide/add/", {**form, **{f"spots-{name}": spots[name] for name in spots}}
    )

    assert answer.status_code == 200
    assert set(answer.context["adminform"].form.errors) == {"title", "destination"}
    assert "spot_name" in answer.context["inline_admin_formsets"][0].formset.errors[0]


def test_a_name_that_was_saved_before_the_rule_hinders_no_picture(spot, pictures):
    old = "Kinkaku\u202eji"
    SpotDetail.objects.update(spot_name=old)
    spot.guide.spots.get().save()

    paint(old)

    assert SpotDetail.objects.get().picture_state == "ready"
