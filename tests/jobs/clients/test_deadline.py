"""One deadline for the whole call."""

import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import httpx2
import pytest

from jobs.errors import AnswerLost, ProviderUnavailable
from jobs.paid.clients import http
from tests.jobs.clients import answers


@pytest.fixture
def from_arrival(service, monkeypatch):
    """Deadlines count from the arrival of all requests: a slow machine may take longer to send."""
    wait_awake = http.wait_awake

    def from_arrival(requests):
        def wait(thread, timeout):
            service.wait_for(requests)
            wait_awake(thread, timeout)

        monkeypatch.setattr(http, "wait_awake", wait)

    return from_arrival


@pytest.mark.few(2)
@pytest.mark.parametrize("behaviour", [answers.hang, answers.drip, answers.drip_headers])
def test_a_slow_service_is_cut_off(service, client, behaviour, from_arrival):
    from_arrival(1)
    service.script = [behaviour]

    with pytest.raises(AnswerLost, match=r"model-7.*no answer within 0.5 s"):
        client.picture("model-7", "a castle", 0.5)


def test_the_thread_of_a_call_that_was_cut_off_ends(service, client, from_arrival):
    from_arrival(1)
    service.script = [answers.drip]

    with pytest.raises(AnswerLost):
        client.picture("model-7", "a castle", 0.5)

    for thread in call_threads():
        thread.join(60)
        assert not thread.is_alive()


def call_threads():
    return {thread for thread in threading.enumerate() if thread.name == "paid-call"}


def test_each_thread_has_its_own_deadline(service, client, from_arrival):
    from_arrival(8)
    service.script = lambda prompt, number: answers.hang if prompt == "slow" else None

    def ask(prompt):
        try:
            return client.picture("model-7", prompt, 1 if prompt == "slow" else 60).raw
        except AnswerLost:
            return "cut off"

    service.delay = 0.3
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(ask, ["slow", "quick"] * 4))

    assert results == ["cut off", answers.png()] * 4


def test_a_name_that_is_found_too_late_sends_nothing(service, client, monkeypatch):
    """A DNS lookup can't be cut off, and the caller was already told that nothing was sent."""
    import socket

    waiting, found = threading.Event(), threading.Event()
    look_up = socket.getaddrinfo

    def slow(*args, **options):
        waiting.set()
        found.wait(60)
        return look_up(*args, **options)

    client.picture("model-7", "warm up", 60)
    earlier = call_threads()
    monkeypatch.setattr(socket, "getaddrinfo", slow)

    with pytest.raises(ProviderUnavailable, match="nothing was sent") as caught:
        client.picture("model-7", "a castle", 0.3)

    [thread] = call_threads() - earlier
    found.set()
    thread.join(60)
    assert waiting.is_set()
    assert not caught.value.billed
    assert [entry.prompt for entry in service.ledger] == ["warm up"]


def test_an_answer_that_came_at_the_last_moment_is_kept():
    request = httpx2.Request("POST", "http://127.0.0.1", extensions={})
    answer = SimpleNamespace(status_code=200)
    exchange = http.Exchange(request)
    exchange.response = answer  # it arrived while the caller waited for the thread

    assert exchange.result(lambda: answer, 0) is answer


def test_a_request_can_be_held_until_it_is_let_go(service, client):
    service.hold = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(client.picture, "model-7", "a castle", 20)
        service.wait_for(1)
        assert service.paid == []
        service.hold.set()

        assert asked.result().raw == answers.png()

    assert service.paid == ["a castle"]
