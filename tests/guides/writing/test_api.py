"""POST /api/guides/ may ask for a guide to be written."""

import pytest

from config.doors.models import ApiToken
from guides.models import Guide
from jobs.llm.models import LLMJob
from tests.guides.schema import faults
from tests.guides.writing.writers import manuscript, written

pytestmark = pytest.mark.django_db


def body(plan_id="lisbon", **wish):
    return {"plan_id": plan_id, "write": {"destination": "Lisbon", **wish}}


def test_a_guide_is_asked_for(send):
    answer = send(body(days=3, spots=4, interests="fado", language="en", tone="lively"))

    assert answer.status_code == 201
    assert (answer.json()["result"], answer.json()["pictures_asked_for"]) == ("created", 4)
    assert faults(answer.json(), {"$ref": "#/components/schemas/Handover"}) == []
    found = manuscript()
    facts = (found.days, found.spots, found.interests, found.language, found.tone)
    assert facts == (3, 4, "fado", "en", "lively")
    assert found.asked_by == "token API_TOKEN"


def test_what_is_left_out_is_usual(send):
    send({"plan_id": "kanazawa", "write": {"destination": "金沢"}})

    found = manuscript("kanazawa")
    assert (found.days, found.spots, found.language, found.tone) == (2, 8, "ja", "calm")


def test_the_status_is_as_described(send, client):
    send(body())

    status = client.get("/api/guides/lisbon/status/").json()

    assert faults(status, {"$ref": "#/components/schemas/Status"}) == []


def test_the_same_again_changes_nothing(send):
    send(body())
    answer = send(body())

    assert (answer.status_code, answer.json()["result"]) == (200, "unchanged")
    assert answer.json()["pictures_asked_for"] == 0
    assert LLMJob.objects.count() == 1
    assert ApiToken.objects.get().used == 8


def test_other_words_for_a_guide_that_is_there_are_refused(send):
    send(body())

    answer = send(body(days=9))

    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "exists")
    assert manuscript().days == 2


def test_a_written_guide_is_not_written_over(send):
    written("Castle")

    assert send(body(spots=9)).status_code == 409


def test_a_withdrawn_guide_does_not_come_back_by_a_wish(send):
    send(body())
    Guide.objects.update(withdrawn_at="2026-01-01T00:00Z")

    assert send(body()).status_code == 409
    assert Guide.objects.get().withdrawn_at


def test_the_quota_counts_the_pictures_that_will_follow(send):
    send(body("a", spots=30))
    ApiToken.objects.update(pictures_per_day=40)

    answer = send(body("b", spots=30))

    assert answer.status_code == 429
    assert not Guide.objects.filter(pk="b").exists()
    assert LLMJob.objects.count() == 1


def test_all_faults_are_told_at_once(send):
    wrong = body(days=0, spots=31, interests=7, language="tlh", tone="loud", x=1)
    wrong |= {"spots": [], "title": "Mine", "colour": "red", "picture_style": "crayon"}
    wrong["write"]["destination"] = " "

    answer = send(wrong)

    assert answer.status_code == 400
    fields = {fault["field"] for fault in answer.json()["error"]["fields"]}
    assert fields == {
        *("spots", "title", "colour", "picture_style", "write.x", "write.destination"),
        *("write.days", "write.spots", "write.interests", "write.language", "write.tone"),
    }
    assert not Guide.objects.exists()


@pytest.mark.parametrize(
    "write", [None, [], "Lisbon", 7, {}, {"destination": None}, {"days": True}]
)
def test_a_wish_of_another_kind_is_refused(send, write):
    assert send({"plan_id": "lisbon", "write": write}).status_code == 400


@pytest.mark.parametrize("value", [[], {}, None, 1.5, True, "3", 10**30])
@pytest.mark.parametrize("name", ["days", "language", "tone", "spots"])
def test_a_value_of_another_kind_is_refused(send, name, value):
    assert send(body(**{name: value})).status_code == 400
