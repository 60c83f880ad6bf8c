"""A shop whose sales a stopping worker waits for."""

import threading

import pytest

from jobs import queue
from jobs.paid.clients import Answer
from tests.jobs.orders import open_shop
from tests.testapp.models import Order


class Counter:
    """A shop that answers when the test says so, and counts its sales."""

    def __init__(self):
        self.asked = 0
        self.opened = threading.Event()

    def send(self, order, timeout):
        self.asked += 1
        assert self.opened.wait(60)
        return Answer(raw=order.name.encode())


@pytest.fixture
def counter(transactional_db, monkeypatch):
    counter = Counter()
    monkeypatch.setattr(Order, "send", lambda order, timeout: counter.send(order, timeout))
    open_shop()
    queue.enqueue([Order(name=name) for name in "abcd"])
    yield counter
    counter.opened.set()
