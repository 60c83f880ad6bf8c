"""Bodies that are refused before they are read."""

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile

from config.bodies import MOST_FROM_STRANGERS

pytestmark = pytest.mark.django_db


class Unread:
    """A body that fails the test if anything reads it."""

    def read(self, *_):
        raise AssertionError("the body was read")

    readline = read


def send(client, path="/admin/login/", **environ):
    kind = "application/x-www-form-urlencoded"
    return client.generic(
        "POST",
        path,
        content_type=kind,
        **{"wsgi.input": Unread(), "CONTENT_LENGTH": "9", **environ},
    )


@pytest.fixture
def anna(client):
    client.force_login(User.objects.create_superuser("anna"))
    return client


@pytest.mark.parametrize("path", ["/", "/admin/login/", "/guides/new/", "/nowhere/"])
def test_a_stranger_sends_little(client, path):
    answer = send(client, path, CONTENT_LENGTH=str(MOST_FROM_STRANGERS + 1))

    assert answer.status_code == 413
    assert "Log in to send more than 65536 bytes." in answer.text


def test_staff_may_send_a_long_guide(anna):
    spots = "\n".join(f"Spot {number} | {'far away ' * 20}" for number in range(500))
    answer = anna.post("/guides/new/", {"title": "Long", "spots": spots})

    assert len(spots) > MOST_FROM_STRANGERS
    assert answer.status_code == 302


def test_a_session_that_does_not_exist_is_a_stranger(client):
    client.cookies["sessionid"] = "forged"

    assert send(client, CONTENT_LENGTH=str(MOST_FROM_STRANGERS + 1)).status_code == 413


@pytest.mark.parametrize("length", ["10000001", "100000000", "9" * 40])
def test_nobody_sends_more_than_the_most(anna, length):
    assert send(anna, CONTENT_LENGTH=length).status_code == 413


@pytest.mark.parametrize("length", ["", "0"])
def test_a_body_without_a_length_is_refused(client, length):
    answer = send(client, CONTENT_LENGTH=length, HTTP_TRANSFER_ENCODING="chunked")

    assert answer.status_code == 411
    assert answer.headers["Content-Security-Policy"]


def test_a_program_is_refused_in_json(client):
    answer = send(client, "/api/guides/", CONTENT_LENGTH="100000000")

    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")


def test_the_api_reads_nothing_without_a_token(client, settings):
    settings.API_TOKEN = "a secret of more than thirty-two characters"

    assert send(client, "/api/guides/", CONTENT_LENGTH="900000").status_code == 401


def test_no_page_takes_a_file(anna, tmp_path, settings):
    settings.FILE_UPLOAD_MAX_MEMORY_SIZE = 0  # a file that is taken would be on the disk
    settings.FILE_UPLOAD_TEMP_DIR = str(tmp_path)
    file = SimpleUploadedFile("a.txt", b"x" * 100)

    answer = anna.post("/guides/new/", {"title": "Kyoto", "spots": "Gate", "file": file})

    assert answer.status_code == 400
    assert not list(tmp_path.iterdir())
