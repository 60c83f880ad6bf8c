"""Faults of the connection: either the request was certainly not accepted, or it is unknown."""

import socket

import pytest

from jobs.errors import AnswerLost, ProviderUnavailable
from jobs.paid.clients.gemini import Gemini
from jobs.paid.clients.openai import OpenAI
from tests.jobs.clients import answers
from tests.jobs.clients.conftest import KEY


@pytest.fixture(params=[Gemini, OpenAI])
def kind(request):
    return request.param


def assert_not_accepted(client):
    with pytest.raises(ProviderUnavailable, match="nothing was sent") as caught:
        client.picture("model-7", "a castle", 1)
    assert type(caught.value) is ProviderUnavailable
    assert not caught.value.billed


def test_a_refused_connection_was_not_accepted(kind):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but not listening
        assert_not_accepted(kind(KEY, f"http://127.0.0.1:{taken.getsockname()[1]}"))


def test_a_name_nobody_knows_was_not_accepted(kind):
    assert_not_accepted(kind(KEY, "http://no-such-host.invalid"))


def test_a_connection_that_nobody_takes_was_not_accepted(kind):
    with socket.socket() as full, socket.socket() as first:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        first.connect(full.getsockname())  # fills the listen queue
        assert_not_accepted(kind(KEY, f"http://127.0.0.1:{full.getsockname()[1]}"))


def test_a_failed_handshake_was_not_accepted(kind, service):
    assert_not_accepted(kind(KEY, service.url.replace("http:", "https:")))


def test_what_a_proxy_turned_away_was_not_accepted(kind, service, monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", service.url)  # it does not know CONNECT

    assert_not_accepted(kind(KEY, "https://no-such-host.invalid"))


@pytest.mark.parametrize(
    "behaviour", [answers.reset_unread, answers.reset, answers.half, answers.half_chunked]
)
def test_an_answer_that_did_not_arrive_may_have_been_billed(service, client, behaviour):
    service.script = [behaviour]

    with pytest.raises(AnswerLost, match=r"model-7.*lost") as caught:
        client.picture("model-7", "a castle", 10)

    assert caught.value.billed
    assert len(service.ledger) == 1


def test_each_request_has_a_connection_of_its_own(service, client):
    """The service may close a used connection just as we send; the call would be unknown."""
    ports = set()

    def script(prompt, number):
        def behaviour(conversation):
            conversation.close_connection = False
            ports.add(conversation.client_address[1])
            conversation.send_response(200)
            conversation.send_header("Content-Type", "application/json")
            conversation.send_header("Content-Length", "2")
            conversation.end_headers()
            conversation.say(b"{}")

        return behaviour

    service.script = script
    for _ in range(3):
        with pytest.raises(Exception, match="without a picture"):
            client.picture("model-7", "a castle", 10)

    assert len(ports) == 3
