"""openapi.json is true: real answers of every endpoint are checked against it."""

import json
from datetime import timedelta

import psycopg
import pytest
from django.db import OperationalError
from django.db.models.functions import Now

from guides import api, bodies, incoming, replies, validators
from guides.models import ImageStatus, SpotImageJob
from guides.styles import PictureStyle
from jobs.paid.waiting import Reason
from tests.guides.conftest import save_guide
from tests.guides.history import have_worker, remember
from tests.guides.painting import claim, give_up, paint
from tests.guides.schema import API, faults

pytestmark = pytest.mark.django_db

TOKEN = {"Authorization": "Bearer a secret"}
SCHEMAS = API["components"]["schemas"]


@pytest.fixture(autouse=True)
def token(settings):
    settings.API_TOKEN = "a secret"


def described(path, method, answer):
    operation = API["paths"][path][method]
    response = operation["responses"][str(answer.status_code)]
    assert answer.headers["Content-Type"] == "application/json"
    assert (
        faults(json.loads(answer.getvalue()), response["content"]["application/json"]["schema"])
        == []
    )
    assert all(name in answer.headers for name in response.get("headers", {}))


def test_a_status_in_all_its_conditions_is_as_described(client, pictures):
    save_guide("Gate", "Pond", "Fog", "Hill", "Lake")
    paint("Gate")
    give_up("Fog")
    free = {"locked_at": None, "locked_by": None, "lease_expires_at": None}
    SpotImageJob.objects.filter(spot_name="Hill").update(status="queued", **free)
    later = Now() + timedelta(hours=1)
    SpotImageJob.objects.filter(spot_name="Lake").update(status="queued", run_after=later, **free)
    remember(5)
    have_worker()

    answer = client.get("/api/guides/kyoto/status/")

    described("/api/guides/{plan_id}/status/", "get", answer)
    spots = answer.json()["spots"]
    assert {spot["picture_state"] for spot in spots} == {"ready", "failed", "loading"}
    assert {spot["waits_for"] and spot["waits_for"]["reason"] for spot in spots} == {
        None,
        "turn",
        "retry",
    }


def test_an_unchanged_status_is_as_described(client):
    save_guide("Gate")
    claim(["Gate"])
    etag = client.get("/api/guides/kyoto/status/").headers["ETag"]

    answer = client.get("/api/guides/kyoto/status/", headers={"If-None-Match": etag})

    described_304 = API["paths"]["/api/guides/{plan_id}/status/"]["get"]["responses"]["304"]
    assert answer.status_code == 304
    assert all(name in answer.headers for name in described_304["headers"])


@pytest.mark.parametrize("method", ["get", "put"])
def test_a_refused_look_is_as_described(client, method):
    answer = getattr(client, method)("/api/guides/unknown/status/")

    described("/api/guides/{plan_id}/status/", "get", answer)


GUIDE = {
    "plan_id": "kyoto",
    "title": "Kyoto",
    "destination": "Japan",
    "summary": "Gates\nand ponds.",
    "picture_style": "ink",
    "spots": [{"name": "Gate", "description": "Red.", "tags": ["shrine"]}, {"name": "Pond"}],
}


def hand_over(client, body, headers=TOKEN, content_type="application/json"):
    return client.post("/api/guides/", body, content_type=content_type, headers=headers)


@pytest.mark.parametrize(
    "wrong",
    [
        {"title": ""},
        {"title": "x" * 201},
        {"plan_id": "a b"},
        {"picture_style": "crayon"},
        {"spots": [{"name": "Gate"}] * 501},
        {"spots": [{"name": "Gate", "tags": list("abcdefghijklmnopqrstuvw")}]},
        {"spots": [{"name": ""}]},
        {"spots": [{}]},
        {"colour": "red"},
    ],
)
def test_the_description_and_the_code_refuse_the_same(client, wrong):
    body = {**GUIDE, **wrong}

    assert faults(body, SCHEMAS["Guide"]) != []
    assert hand_over(client, body).status_code == 400


def test_a_guide_handed_over_is_as_described(client):
    assert faults(GUIDE, SCHEMAS["Guide"]) == []

    answers = [hand_over(client, GUIDE), hand_over(client, GUIDE)]
    answers.append(hand_over(client, {**GUIDE, "title": "Another"}))

    assert [answer.status_code for answer in answers] == [201, 200, 200]
    for answer in answers:
        described("/api/guides/", "post", answer)


@pytest.mark.parametrize(
    ("status", "request_"),
    [
        (400, {"body": {"spots": [{"name": 3}, {"x": "y"}]}}),
        (400, {"body": "{", "content_type": "application/json"}),
        (400, {"body": {"spots": [{"name": "x" * 300}] * 500, "summary": ["é" * 300]}}),
        (401, {"body": GUIDE, "headers": {}}),
        (413, {"body": {"title": "x" * validators.MOST_BYTES}}),
        (415, {"body": "title=Kyoto", "content_type": "application/x-www-form-urlencoded"}),
    ],
)
def test_a_refused_guide_is_as_described(client, status, request_):
    answer = hand_over(client, **request_)

    assert answer.status_code == status
    described("/api/guides/", "post", answer)


def test_a_guide_in_pieces_is_refused_as_described(client):
    headers = {**TOKEN, "Transfer-Encoding": "chunked"}
    options = {"headers": headers, "CONTENT_TYPE": "application/json"}

    answer = client.generic("POST", "/api/guides/", **options)

    assert answer.status_code == 411
    described("/api/guides/", "post", answer)


def test_a_closed_door_is_as_described(client, settings):
    settings.API_TOKEN = ""

    described("/api/guides/", "post", hand_over(client, GUIDE))
    described("/api/guides/", "post", client.delete("/api/guides/"))


def test_a_fault_of_ours_is_as_described(client, monkeypatch):
    client.raise_request_exception = False
    monkeypatch.setattr("guides.services.put_guide", lambda *_: 1 / 0)
    monkeypatch.setattr("guides.api.find_status", lambda *_: 1 / 0)

    described("/api/guides/", "post", hand_over(client, GUIDE))
    described("/api/guides/{plan_id}/status/", "get", client.get("/api/guides/kyoto/status/"))


def test_a_wait_is_as_described(client, monkeypatch, settings):
    settings.VISITOR_REQUESTS_PER_MINUTE = 20
    answers = [hand_over(client, GUIDE, {}) for _ in range(50)]
    monkeypatch.setattr("guides.api.find_status", lambda *_: conflict())

    assert answers[-1].status_code == 429
    described("/api/guides/", "post", answers[-1])
    settings.VISITOR_REQUESTS_PER_MINUTE = 0
    busy = client.get("/api/guides/kyoto/status/")
    assert busy.status_code == 503
    described("/api/guides/{plan_id}/status/", "get", busy)


def conflict():
    raise OperationalError from psycopg.errors.QueryCanceled()


def test_the_description_is_served(client):
    described("/api/openapi.json", "get", client.get("/api/openapi.json"))
    assert json.loads(client.get("/api/openapi.json").getvalue()) == API
    described("/api/openapi.json", "get", client.post("/api/openapi.json"))


def test_a_request_to_another_site_is_refused_as_described(client, settings):
    settings.ALLOWED_HOSTS = ["tabie.example.org"]
    for path in ("/api/openapi.json", "/api/guides/{plan_id}/status/"):
        described(path, "get", client.get(path, headers={"Host": "evil.example.org"}))
    described("/api/guides/", "post", hand_over(client, GUIDE, {"Host": "evil.example.org"}))


@pytest.mark.parametrize("name", ["Status", "Spot", "Wait", "Handover", "Process"])
def test_no_field_of_an_answer_is_ever_left_out(name):
    assert SCHEMAS[name]["required"] == list(SCHEMAS[name]["properties"])
    assert SCHEMAS[name]["additionalProperties"] is False


def test_the_description_knows_the_same_fields_limits_and_styles_as_the_code():
    guide, spot = SCHEMAS["Guide"]["properties"], SCHEMAS["NewSpot"]["properties"]

    assert guide.keys() == incoming.GUIDE_FIELDS
    assert spot.keys() == incoming.SPOT_FIELDS
    assert guide["spots"]["maxItems"] == validators.MOST_SPOTS
    assert spot["name"]["maxLength"] == validators.LONGEST_SPOT_NAME
    assert guide["title"]["maxLength"] == validators.LONGEST_TITLE
    assert guide["summary"]["maxLength"] == validators.LONGEST_SUMMARY
    assert spot["description"]["maxLength"] == validators.LONGEST_DESCRIPTION
    assert spot["tags"]["maxItems"] == validators.MOST_TAGS
    assert guide["picture_style"]["enum"] == PictureStyle.values
    assert sorted(SCHEMAS["Wait"]["properties"]["reason"]["enum"]) == sorted(Reason.values)
    assert SCHEMAS["Spot"]["properties"]["image_status"]["enum"] == ImageStatus.values
    error = SCHEMAS["Error"]["properties"]["error"]["properties"]
    assert error["fields"]["maxItems"] == bodies.MOST_FAULTS
    assert error["fields"]["items"]["properties"]["value"]["maxLength"] == replies.MOST_SHOWN
    assert list(SCHEMAS["Status"]["properties"]["counts"]["properties"]) == ["total", *api.STATES]
