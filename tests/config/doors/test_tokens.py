"""API tokens: named, hashed, with a quota per day; wrong ones are answered ever more slowly."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db.models import F
from django.db.models.functions import Now
from django.test import Client

from config.doors import tokens
from config.doors.models import ApiToken
from guides import incoming
from guides.models import Guide, SpotImageJob
from tests.config.doors.making import new_token
from tests.guides.handover import guide
from tests.jobs.conftest import in_another_thread

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def closed(settings):
    settings.API_TOKEN = ""


def send(secret, *spots, plan_id="kyoto", address="192.0.2.1"):
    return Client(headers={"Authorization": f"Bearer {secret}"}).post(
        "/api/guides/",
        guide(*spots, plan_id=plan_id),
        content_type="application/json",
        REMOTE_ADDR=address,
    )


def code(answer):
    return answer.json()["error"]["code"]


def test_a_token_opens_the_door_and_notes_its_use():
    token, secret = new_token()

    assert send(secret, "Gate", "Pond").status_code == 201
    token = ApiToken.objects.with_now().get()
    assert token.used_today == 2
    assert token.last_used_at


def test_a_program_that_polls_writes_once_a_minute():
    token, _ = new_token()
    assert tokens.booked(token, pictures=0)
    first = ApiToken.objects.get().last_used_at
    assert tokens.booked(token, pictures=0)
    assert ApiToken.objects.get().last_used_at == first

    ApiToken.objects.update(last_used_at=first - timedelta(minutes=2))
    assert tokens.booked(token, pictures=0)
    assert ApiToken.objects.get().last_used_at > first
    ApiToken.objects.update(revoked_at=Now())
    assert not tokens.booked(token, pictures=0)


def test_the_secret_is_not_kept():
    _, secret = new_token()

    assert len(secret) > 40
    assert secret not in json.dumps(ApiToken.objects.values()[0], default=str)


def test_there_can_be_several():
    secrets = [new_token(name)[1] for name in ("atlas", "boreas")]

    assert [send(secret, "Gate").status_code for secret in secrets] == [201, 200]


def test_a_revoked_token_opens_nothing():
    token, secret = new_token()
    new_token("another")
    tokens.revoke(token)

    assert send(secret, "Gate").status_code == 401


def test_without_any_usable_token_the_door_is_closed():
    token, secret = new_token()
    tokens.revoke(token)

    assert code(send(secret, "Gate")) == "closed"


@pytest.mark.parametrize("secret", ["", "tabie_", "é", "x" * 5_000])
def test_the_row_of_the_setting_is_opened_by_no_secret(secret, settings):
    settings.API_TOKEN = "a secret of the setting, long enough"
    send(settings.API_TOKEN, "Gate")
    settings.API_TOKEN = ""
    new_token()

    assert send(secret, "Gate").status_code == 401


# Quota


def test_a_token_asks_for_no_more_pictures_than_it_may():
    _, secret = new_token(pictures_per_day=3)

    assert send(secret, "Gate", "Pond").status_code == 201
    refused = send(secret, "Hill", "Lake", plan_id="nara")

    assert (refused.status_code, code(refused)) == (429, "too_many_pictures")
    assert 0 < int(refused.headers["Retry-After"]) <= 24 * 60 * 60
    assert "3 pictures a day" in refused.json()["error"]["text"]
    assert Guide.objects.count() == 1
    assert SpotImageJob.objects.count() == 2
    assert send(secret, "Hill", plan_id="nara").status_code == 201


def test_a_guide_that_no_day_covers_is_not_told_to_come_back():
    _, secret = new_token(pictures_per_day=1)

    refused = send(secret, "Gate", "Pond")

    assert (refused.status_code, code(refused)) == (403, "too_many_pictures")
    assert "Retry-After" not in refused.headers
    assert "needs 2 new pictures" in refused.json()["error"]["text"]
    assert not Guide.objects.exists()


def test_a_token_that_is_revoked_during_a_request_is_told_so(monkeypatch):
    token, secret = new_token()
    read = incoming.read_guide

    def revoke_while_it_is_read(request):
        tokens.revoke(token)
        return read(request)

    monkeypatch.setattr(incoming, "read_guide", revoke_while_it_is_read)

    assert send(secret, "Gate").status_code == 401
    assert not Guide.objects.exists()


def test_what_asks_for_no_picture_is_always_taken():
    _, secret = new_token(pictures_per_day=1)
    send(secret, "Gate")

    assert send(secret, "Gate").status_code == 200


def test_the_next_day_has_its_own_quota():
    _, secret = new_token(pictures_per_day=1)
    send(secret, "Gate")
    ApiToken.objects.update(used_on=F("used_on") - timedelta(days=1))

    assert send(secret, "Pond", plan_id="nara").status_code == 201
    assert ApiToken.objects.get().used == 1


def test_a_clock_that_steps_back_gives_no_second_quota():
    _, secret = new_token(pictures_per_day=1)
    send(secret, "Gate")
    ApiToken.objects.update(used_on=F("used_on") + timedelta(days=1))

    assert send(secret, "Pond", plan_id="nara").status_code == 429


def test_a_token_without_a_quota_is_not_limited():
    _, secret = new_token(pictures_per_day=None)

    assert send(secret, *map(str, range(500))).status_code == 201
    assert ApiToken.objects.get().used == 500


def test_the_token_of_the_setting_has_a_quota_too(settings):
    settings.API_TOKEN = "a secret of the setting, long enough"
    many = [map(str, range(400)) for _ in range(3)]

    answers = [send(settings.API_TOKEN, *spots, plan_id=f"p{n}") for n, spots in enumerate(many)]

    assert [answer.status_code for answer in answers] == [201, 201, 429]
    assert ApiToken.objects.get().name == "API_TOKEN"
    assert SpotImageJob.objects.count() == ApiToken.objects.get().used == 800


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("of_setting", [True, False])
def test_the_quota_is_exact_when_many_ask_at_once(settings, of_setting):
    if of_setting:
        settings.API_TOKEN = secret = "a secret of the setting, long enough"
        ApiToken.objects.create(name="API_TOKEN", pictures_per_day=5)
    else:
        _, secret = new_token(pictures_per_day=5)

    def ask(number):
        answer = send(secret, "Gate", "Pond", plan_id=f"plan{number}")
        return answer.status_code

    with ThreadPoolExecutor(4) as pool:
        futures = [pool.submit(in_another_thread, lambda n=n: ask(n)) for n in range(8)]
        answers = [future.result() for future in futures]

    assert sorted(answers) == [201, 201] + [429] * 6
    assert SpotImageJob.objects.count() == ApiToken.objects.get().used == 4


# Guessing


@pytest.fixture
def on_a_busy_machine(monkeypatch):
    """Waits that don't end while a test runs."""
    minute = timedelta(minutes=1)
    monkeypatch.setattr(tokens, "WRONG", tokens.WRONG._replace(first=minute, longest=minute))


def test_wrong_tokens_are_answered_ever_more_slowly(on_a_busy_machine):
    new_token()

    answers = [send("wrong", "Gate") for _ in range(20)]

    assert [answer.status_code for answer in answers] == [401] * 11 + [429] * 9
    assert 1 <= int(answers[-1].headers["Retry-After"]) <= 60
    assert code(answers[-1]) == "too_many_requests"
    assert send("wrong", "Gate", address="192.0.2.2").status_code == 401


def test_waits_for_guessing_grow_to_a_minute():
    waits = [tokens.WRONG.wait(tries).total_seconds() for tries in (10, 11, 12, 13, 1_000)]

    assert waits == [0, 1, 2, 4, 60]


def test_the_right_token_is_not_kept_waiting_by_others_at_its_address(on_a_busy_machine):
    _, secret = new_token()
    for _ in range(20):
        send("wrong", "Gate")

    assert send(secret, "Gate").status_code == 201


# Doubled keys


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ('{"plan_id": "a", "plan_id": "b", "title": "A", "spots": []}', "plan_id"),
        ('{"plan_id": "a", "title": "A", "spots": [], "spots": []}', "spots"),
        (
            '{"plan_id": "a", "title": "A", "spots": [{"name": "x"}, {"name": "y", "name": "z"}]}',
            "spots[1].name",
        ),
    ],
)
def test_a_key_that_is_there_twice_is_refused_with_its_path(body, field):
    _, secret = new_token()
    client = Client(headers={"Authorization": f"Bearer {secret}"})

    answer = client.generic("POST", "/api/guides/", body, "application/json")

    assert answer.status_code == 400
    [fault] = answer.json()["error"]["fields"]
    assert (fault["field"], fault["text"]) == (field, "This key is there twice.")
    assert not Guide.objects.exists()
