"""Answers that are not what was asked for; each may have been billed."""

import pytest

from jobs.errors import GarbageAnswer
from jobs.paid.clients.gemini import Gemini
from jobs.paid.clients.openai import OpenAI
from tests.jobs.clients import answers
from tests.jobs.clients.conftest import KEY


@pytest.fixture
def error_of(service, client):
    def ask(behaviour):
        service.script = [behaviour]
        with pytest.raises(GarbageAnswer) as caught:
            client.picture("model-7", "a castle", 20)
        assert caught.value.billed
        assert "model-7" in str(caught.value)
        return str(caught.value)

    return ask


def test_a_page_is_quoted(error_of):
    text = error_of(answers.page())

    assert "text/html instead of JSON, beginning with '<html><body><h1>Welcome to" in text


def test_a_quote_is_short_and_clean(error_of):
    text = error_of(answers.page(text="\x00\x1b[31m\n\n" + "long " * 10_000))

    assert len(text) < 250
    assert text.isprintable()


def test_another_content_type_is_not_trusted(error_of):
    assert "text/plain instead of JSON" in error_of(answers.wrong_type)


@pytest.mark.parametrize("body", [b"", b"{", b"[" * 100_000, b"[]", b"7", b"\xff\xfe"])
def test_what_is_no_json_object_is_garbage(error_of, body):
    assert "JSON" in error_of(answers.json_answer(body))


@pytest.mark.parametrize(
    "body", [{}, {"candidates": []}, {"candidates": 7, "data": 7}, {"candidates": [7], "data": [7]}]
)
def test_json_without_a_picture_is_garbage(error_of, body):
    error_of(answers.json_answer(body))


def test_broken_base64_is_garbage(error_of):
    error_of(answers.bad_base64)


def test_what_claims_to_be_packed_and_is_not_is_garbage(error_of):
    assert "unpacked" in error_of(answers.not_gzip)


def test_a_packed_picture_is_unpacked(service, client):
    service.script = [answers.gzipped]

    assert client.picture("model-7", "a castle", 10).raw == answers.png()


def test_a_picture_that_would_explode_is_handed_on_unopened(service, client):
    service.script = [answers.picture(answers.bomb())]

    assert client.picture("model-7", "a castle", 10).raw == answers.bomb()


def test_50_megabytes_are_refused_by_their_announcement(service, error_of):
    assert "52428800 bytes" in error_of(answers.long())
    assert service.ledger[0].sent < 20 * 1024 * 1024  # only what the kernel buffered


@pytest.mark.parametrize("kind", [Gemini, OpenAI])
@pytest.mark.parametrize("behaviour", [answers.long(announced=False), answers.inflating()])
def test_50_megabytes_are_not_read_to_their_end(service, kind, behaviour):
    service.script = [behaviour]
    client = kind(KEY, service.url, most_bytes=1024 * 1024)

    with pytest.raises(GarbageAnswer, match="more than the 1048576 bytes"):
        client.picture("model-7", "a castle", 20)

    assert service.ledger[0].sent < 20 * 1024 * 1024


def test_50_megabytes_are_above_the_cap_unless_told_otherwise(error_of):
    assert "more than the 41943040 bytes" in error_of(answers.inflating())
