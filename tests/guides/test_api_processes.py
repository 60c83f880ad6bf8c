"""How far a process is, for staff and for callers with a token."""

from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db.models.functions import Now

from config.doors.models import ApiToken
from jobs import queue
from jobs.queue import processes
from tests.config.doors.making import new_token
from tests.guides.schema import API, faults
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db

PATH = "/api/processes/{id}/"


@pytest.fixture(autouse=True)
def closed(settings):
    settings.API_TOKEN = ""


@pytest.fixture
def process():
    process = processes.start("week 12")
    queue.enqueue([Chore(name=name, process_id=process.id) for name in "abcd"])
    processes.seal(process)
    queue.cancel(Chore.objects.filter(name="a"))
    return process


@pytest.fixture
def staff(client):
    client.force_login(User.objects.create_user("vera", is_staff=True))
    return client


def ask(client, id, **headers):
    answer = client.get(PATH.replace("{id}", str(id)), headers=headers)
    if answer.status_code != 304:
        response = API["paths"][PATH]["get"]["responses"][str(answer.status_code)]
        schema = response["content"]["application/json"]["schema"]
        assert faults(answer.json(), schema) == []
    return answer


def test_a_process_tells_its_numbers(staff, process):
    answer = ask(staff, process.id)

    assert answer.status_code == 200
    data = answer.json()
    assert (data["id"], data["label"], data["state"]) == (str(process.id), "week 12", "open")
    counts = [data[name] for name in ("total", "open", "succeeded", "failed", "canceled")]
    assert counts == [4, 3, 0, 0, 1]
    assert (data["percent"], data["ended"]) == (25, None)


def test_an_ended_process_says_when(staff, process):
    queue.cancel(Chore.objects.all())

    data = ask(staff, process.id).json()

    assert (data["state"], data["percent"], data["canceled"]) == ("ended", 100, 4)
    assert data["ended"] > data["started"]


def test_an_unchanged_process_is_an_empty_304(staff, process):
    etag = ask(staff, process.id).headers["ETag"]

    same = ask(staff, process.id, **{"If-None-Match": etag})
    queue.cancel(Chore.objects.filter(name="b"))
    other = ask(staff, process.id, **{"If-None-Match": etag})

    assert (same.status_code, same.content, same.headers["ETag"]) == (304, b"", etag)
    assert "private" in same.headers["Cache-Control"]
    assert other.status_code == 200


def test_a_token_opens_it_and_notes_its_use(client, process):
    _, secret = new_token()

    answer = ask(client, process.id, Authorization=f"Bearer {secret}")

    assert answer.status_code == 200
    assert ApiToken.objects.get().last_used_at
    assert ApiToken.objects.get().used == 0


def test_a_wrong_token_and_none_are_refused(client, process):
    new_token()

    for headers in ({}, {"Authorization": "Bearer wrong"}):
        answer = ask(client, process.id, **headers)
        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_a_revoked_token_is_refused(client, process):
    _, secret = new_token()
    new_token("another")
    ApiToken.objects.filter(name="atlas").update(revoked_at=Now())

    assert ask(client, process.id, Authorization=f"Bearer {secret}").status_code == 401


def test_without_any_token_it_is_closed_for_all_but_staff(client, process):
    client.force_login(User.objects.create_user("guest"))

    assert ask(client, process.id).status_code == 403


@pytest.mark.parametrize("id", [uuid4(), "week-12", "0", "%00", "1" * 200])
def test_a_process_that_is_not_there_is_a_404(staff, id):
    assert ask(staff, id).status_code == 404


def test_a_refusal_does_not_tell_whether_the_process_exists(client, process):
    new_token()

    assert ask(client, process.id).content == ask(client, uuid4()).content


def test_only_reading_is_allowed(staff, process):
    answer = staff.post(PATH.replace("{id}", str(process.id)))

    assert answer.status_code == 405
    assert answer.headers["Allow"] == "GET, HEAD"
