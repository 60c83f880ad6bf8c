"""POST /api/events/: another system tells what happened, once or repeatedly."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.contrib.auth.models import User
from django.test import Client

from config.doors import tokens
from config.doors.models import ApiToken
from jobs.events.models import EventJob
from jobs.models import Event
from tests.guides.conftest import save_guide
from tests.guides.schema import API, faults
from tests.guides.withdrawing import handle_events, is_withdrawn
from tests.jobs.conftest import in_another_thread

pytestmark = pytest.mark.django_db

SCHEMAS = API["components"]["schemas"]


@pytest.fixture
def tell(client, opened):
    def tell(body, token="a secret", **options):
        headers = {"Authorization": f"Bearer {token}"}
        options = {"content_type": "application/json", "headers": headers, **options}
        return described(client.post("/api/events/", body, **options))

    return tell


def described(answer):
    """The answer, if it is as openapi.json says."""
    response = API["paths"]["/api/events/"]["post"]["responses"][str(answer.status_code)]
    schema = response["content"]["application/json"]["schema"]
    assert faults(answer.json(), schema) == []
    assert all(name in answer.headers for name in response.get("headers", {}))
    return answer


def withdrawn(**more):
    facts = {"source": "travel", "kind": "guide.withdrawn", "dedupe_key": "42"}
    return {**facts, "payload": {"plan_id": "kyoto"}, **more}


def without(*names):
    return {name: value for name, value in withdrawn().items() if name not in names}


def result(answer):
    return answer.status_code, answer.json()["result"], answer.json()["same"]


def test_a_new_event_is_recorded_and_handled(tell):
    save_guide("Gate")

    answer = tell(withdrawn())

    assert result(answer) == (201, "recorded", True)
    event = Event.objects.get(source="travel")
    assert answer.json()["id"] == str(event.pk)
    assert (event.kind, event.dedupe_key) == ("guide.withdrawn", "42")
    handle_events()
    assert is_withdrawn()


def test_the_same_again_is_known(tell):
    first = tell(withdrawn()).json()

    answer = tell(withdrawn())

    assert result(answer) == (200, "known", True)
    assert {**answer.json(), "result": "recorded"} == first
    assert EventJob.objects.count() == 1


def test_another_event_with_a_known_key_is_told_so_and_changes_nothing(tell):
    tell(withdrawn())

    answer = tell(withdrawn(payload={"plan_id": "nara"}))

    assert result(answer) == (200, "known", False)
    assert Event.objects.get().payload == {"plan_id": "kyoto"}
    assert EventJob.objects.count() == 1


@pytest.mark.parametrize("body", [without("dedupe_key"), withdrawn(dedupe_key=None)])
def test_without_a_key_every_request_is_a_new_event(tell, body):
    assert result(tell(body)) == result(tell(body)) == (201, "recorded", True)


@pytest.mark.django_db(transaction=True)
def test_the_same_event_sent_many_times_at_once_is_recorded_once(tell):
    start = threading.Barrier(4)

    def race():
        start.wait(60)
        return in_another_thread(lambda: tell(withdrawn()).status_code)

    with ThreadPoolExecutor(4) as sessions:
        answers = [each.result() for each in [sessions.submit(race) for _ in range(4)]]

    assert sorted(answers) == [200, 200, 200, 201]
    assert EventJob.objects.count() == 1


@pytest.mark.parametrize("kind", ["guide.lost", "guide.saved"])
def test_a_kind_that_nobody_handles_or_only_the_site_records_is_not_found(tell, kind):
    answer = tell(withdrawn(kind=kind))

    assert answer.status_code == 404
    text = answer.json()["error"]["text"]
    assert f"'{kind}'" in text
    assert "guide.withdrawn" in text
    assert not Event.objects.exists()


@pytest.mark.parametrize(
    ("body", "field", "value"),
    [
        (without("source"), "source", ""),
        (withdrawn(source="a\nb"), "source", "a\\nb"),
        (withdrawn(source="x" * 101), "source", "xxx"),
        (withdrawn(source="tabie"), "source", "tabie"),
        (without("kind"), "kind", ""),
        (withdrawn(kind="Guide"), "kind", "Guide"),
        (withdrawn(kind=3), "kind", "3"),
        (withdrawn(dedupe_key=""), "dedupe_key", ""),
        (withdrawn(dedupe_key="x" * 201), "dedupe_key", "xxx"),
        (withdrawn(dedupe_key=42), "dedupe_key", "42"),
        (withdrawn(payload=[1]), "payload", "[1]"),
        (withdrawn(payload=None), "payload", "null"),
        (withdrawn(payload={"plan_id": "a\x00"}), "payload.plan_id", ""),
        (withdrawn(payload={"plan_id": "kyoto", "x": [{"y": "\ud800"}]}), "payload.x[0].y", ""),
        (withdrawn(payload={}), "payload.plan_id", "{}"),
        (withdrawn(payload={"plan_id": 3}), "payload.plan_id", "3"),
        (withdrawn(payload={"plan_id": "a b"}), "payload.plan_id", "a b"),
        (withdrawn(payload={"plan_id": "kyoto", "text": "x" * 100_000}), "payload", ""),
        (withdrawn(colour="red"), "colour", "red"),
    ],
)
def test_every_fault_names_its_field_and_its_value(tell, body, field, value):
    answer = tell(json.dumps(body))

    assert answer.status_code == 400
    [fault] = answer.json()["error"]["fields"]
    assert fault["field"] == field
    assert value in fault["value"]
    assert not Event.objects.exists()


def test_a_number_that_no_database_stores_is_refused(tell):
    body = json.dumps(withdrawn(payload={"plan_id": "kyoto", "x": 9})).replace("9", "1e999")

    [fault] = tell(body).json()["error"]["fields"]

    assert fault["field"] == "payload.x"


def test_a_key_that_is_there_twice_is_refused_wherever_it_is(tell):
    body = json.dumps(withdrawn(payload={"plan_id": "kyoto", "a": [{"b": 1, "c": 2}]}))
    twice = body.replace('"c": 2', '"b": 2').replace('"source"', '"kind": "x", "source"')

    fields = [fault["field"] for fault in tell(twice).json()["error"]["fields"]]

    assert fields == ["kind", "payload.a[0].b"]


def test_all_faults_are_told_at_once(tell):
    answer = tell({"source": "", "dedupe_key": 3, "payload": [], "colour": "red"})

    fields = [fault["field"] for fault in answer.json()["error"]["fields"]]
    assert fields == ["colour", "source", "kind", "dedupe_key", "payload"]


@pytest.mark.parametrize("depth", [70, 900, 950])
@pytest.mark.parametrize("field", ["source", "payload"])
def test_what_is_nested_too_deep_is_refused(tell, depth, field):
    body = json.dumps(withdrawn(**{field: "NESTED"}))

    answer = tell(body.replace('"NESTED"', "[" * depth + "]" * depth))

    assert answer.status_code == 400
    assert len(answer.content) < 500


def test_a_refusal_names_a_hundred_faults_and_quotes_little_of_each(tell):
    payload = {"k" * 300 + str(n): {"k" * 300: "\x00"} for n in range(150)}

    answer = tell(json.dumps(withdrawn(payload=payload)))

    assert len(answer.json()["error"]["fields"]) == 100
    assert len(answer.content) < 60_000


@pytest.mark.parametrize(
    ("status", "request_"),
    [
        (400, {"body": "{"}),
        (400, {"body": "[]"}),
        (413, {"body": {"payload": "x" * 1_000_000}}),
        (415, {"body": "kind=x", "content_type": "application/x-www-form-urlencoded"}),
        (401, {"body": withdrawn(), "token": "wrong"}),
        (401, {"body": withdrawn(), "headers": {}}),
    ],
)
def test_a_refused_request_is_as_described(tell, status, request_):
    assert tell(**request_).status_code == status
    assert not Event.objects.exists()


def test_a_wrong_token_is_refused_before_the_body_is_read(tell):
    assert tell("{", token="wrong").status_code == 401


def test_it_is_closed_without_a_token_of_ours(tell, settings):
    settings.API_TOKEN = ""

    answer = tell(withdrawn(), token="")

    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "closed")


def test_a_cookie_opens_nothing(client, opened):
    client.force_login(User.objects.create_superuser("operator"))

    answer = client.post("/api/events/", withdrawn(), content_type="application/json")

    assert described(answer).status_code == 401


@pytest.mark.parametrize("method", ["get", "put", "delete"])
def test_only_posts_are_taken(client, opened, method):
    answer = described(getattr(client, method)("/api/events/"))

    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")


def test_no_form_of_another_site_is_involved(opened):
    client = Client(enforce_csrf_checks=True)
    headers = {"Authorization": "Bearer a secret"}

    answer = client.post(
        "/api/events/", withdrawn(), content_type="application/json", headers=headers
    )

    assert answer.status_code == 201


def test_an_event_uses_nothing_of_the_token_s_quota_and_notes_its_use(tell):
    token = ApiToken(name="travel", pictures_per_day=0)
    secret = tokens.give_secret(token)
    token.save()

    assert tell(withdrawn(), token=secret).status_code == 201

    token.refresh_from_db()
    assert (token.used, token.last_used_at is None) == (0, False)


@pytest.mark.parametrize(
    "wrong",
    [{"source": ""}, {"source": "x" * 101}, {"kind": "A b"}, {"dedupe_key": "x" * 201}, {"a": 1}],
)
def test_the_description_and_the_code_refuse_the_same(tell, wrong):
    assert faults(withdrawn(), SCHEMAS["Event"]) == []
    assert faults(withdrawn(**wrong), SCHEMAS["Event"]) != []
    assert tell(withdrawn(**wrong)).status_code == 400


def test_no_field_of_an_answer_is_ever_left_out():
    assert SCHEMAS["Recorded"]["required"] == list(SCHEMAS["Recorded"]["properties"])
