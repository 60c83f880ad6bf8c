"""The reply names every fault of a guide that is handed over."""

import json

import pytest

from guides.models import Guide
from tests.guides.handover import guide

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("opened")]


@pytest.mark.parametrize(
    ("body", "field", "value"),
    [
        (guide("Gate", plan_id="a b"), "plan_id", "a b"),
        (guide("Gate", plan_id="new"), "plan_id", "new"),
        (guide("Gate", plan_id=None), "plan_id", "null"),
        (guide("Gate", title=""), "title", ""),
        (guide("Gate", title="x" * 201), "title", "xxx"),
        (guide("Gate", title="a\x00b"), "title", "a\\x00b"),
        (guide("Gate", title="a\ud800b"), "title", "a\\ud800b"),
        (guide("Gate", summary="x" * 2001), "summary", "xxx"),
        (guide("Gate", picture_style="crayon"), "picture_style", "crayon"),
        (guide("Gate", colour="red"), "colour", "red"),
        (guide("Gate", "Gate"), "spots[1].name", "Gate"),
        (guide("Gate", " "), "spots[1].name", " "),
        (guide("x" * 201), "spots[0].name", "xxx"),
        (guide(3), "spots[0].name", "3"),
        (guide(spots=None), "spots", "null"),
        (guide(spots={}), "spots", "{}"),
        (guide(spots=[3]), "spots[0]", "3"),
        (guide(spots=[{"name": "Gate"}] * 501), "spots", "[{"),
        (guide(spots=[{"name": "Gate", "tags": "red"}]), "spots[0].tags", "red"),
        (guide(spots=[{"name": "Gate", "tags": ["\x00"]}]), "spots[0].tags", "u0000"),
        (
            guide(spots=[{"name": "Gate", "tags": list("abcdefghijklmnopqrstuvw")}]),
            "spots[0].tags",
            "a",
        ),
        (guide(spots=[{"name": "Gate", "description": "x" * 5001}]), "spots[0].description", "xxx"),
        (guide(spots=[{"name": "Gate", "url": "x"}]), "spots[0].url", "x"),
    ],
)
def test_every_fault_names_its_field_and_its_value(send, body, field, value):
    answer = send(json.dumps(body))

    assert answer.status_code == 400
    [fault] = answer.json()["error"]["fields"]
    assert fault["field"] == field
    assert value in fault["value"]
    assert not Guide.objects.exists()


def test_all_faults_are_told_at_once(send):
    answer = send(guide("", "Gate", title=""))

    fields = [fault["field"] for fault in answer.json()["error"]["fields"]]
    assert fields == ["title", "spots[0].name"]


@pytest.mark.parametrize(
    "body",
    [" ", "[]", "3", "{", '{"title": NaN}', "[" * 100_000, "9" * 5000, b"\xff\xfe", '"\\ud800"'],
)
def test_what_is_no_guide_is_said_so(send, body):
    answer = send(body)

    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "not_json")


@pytest.mark.parametrize("depth", [6, 900, 943, 950])
@pytest.mark.parametrize("field", ["title", "spots", "tags", "unknown"])
def test_what_is_nested_too_deep_is_refused(send, depth, field):
    nested = "[" * depth + "]" * depth
    body = {"title": "Kyoto", "plan_id": "kyoto", "spots": [{"name": "Gate"}], field: "NESTED"}

    answer = send(json.dumps(body).replace('"NESTED"', nested))

    assert answer.status_code == 400
    assert "fields" not in answer.json()["error"]  # refused as a whole: it may be too deep to quote
    assert len(answer.content) < 500


def test_a_refusal_names_a_hundred_faults_and_quotes_little_of_each(send):
    answer = send(guide(*[{"x" * 200: 1}] * 500, plan_id="é" * 200, title=["y" * 5_000]))

    faults = answer.json()["error"]["fields"]
    assert len(faults) == 100
    assert max(len(fault["value"]) for fault in faults) <= 80
    assert max(len(fault["text"]) for fault in faults) < 250


@pytest.mark.parametrize("tags", ["x" * 5_000, ["x" * 5_000 + "\x00"], [["x" * 5_000]]])
def test_a_fault_of_tags_quotes_little_of_them(send, tags):
    answer = send(json.dumps(guide(spots=[{"name": "Gate", "tags": tags}])))

    assert answer.status_code == 400
    assert len(answer.content) < 500


def test_a_guide_in_pieces_of_unknown_length_is_refused(client):
    headers = {"Authorization": "Bearer a secret", "Transfer-Encoding": "chunked"}

    answer = client.generic(
        "POST", "/api/guides/", headers=headers, CONTENT_TYPE="application/json"
    )

    assert (answer.status_code, answer.json()["error"]["code"]) == (411, "length_required")


def test_faults_are_told_in_one_language(client):
    headers = {"Authorization": "Bearer a secret", "Accept-Language": "ja"}
    body = guide("", title="", plan_id="a b", colour="red", picture_style="crayon", summary=3)

    answer = client.post("/api/guides/", body, content_type="application/json", headers=headers)

    error = answer.json()["error"]
    texts = [error["text"], *(fault["text"] for fault in error["fields"])]
    assert len(texts) == 7
    assert [text for text in texts if text.isascii()] == []
