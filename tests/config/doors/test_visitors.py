"""One address can't keep the site from all others."""

import time
from datetime import timedelta

import pytest
from django.db.models.functions import Now
from django.test import Client

from config.doors import limiter, visitors
from config.doors.models import Throttle

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def visits(monkeypatch, settings):
    """A process that has seen no visitor yet, with a small limit."""
    settings.VISITOR_REQUESTS_PER_MINUTE = 60
    monkeypatch.setattr(visitors, "visits", visitors.Visits())


def ask(times, path="/api/openapi.json", address="192.0.2.1", **headers):
    client = Client(headers=headers)
    return [client.get(path, REMOTE_ADDR=address) for _ in range(times)]


def statuses(answers):
    return [answer.status_code for answer in answers]


def test_a_visitor_in_a_hurry_is_told_to_slow_down():
    answers = ask(100)

    assert statuses(answers[:79]) == [200] * 79  # the limit, and 20 that were not counted yet
    assert set(statuses(answers[79:])) == {429}
    assert 1 <= int(answers[-1].headers["Retry-After"]) <= 20
    assert answers[-1].json()["error"]["code"] == "too_many_requests"
    assert "Content-Security-Policy" in answers[-1].headers


def test_people_get_a_page_that_says_how_long():
    answer = ask(100, "/nowhere/")[-1]

    assert answer.status_code == 429
    assert "Please wait" in answer.content.decode()
    assert answer.headers["Cache-Control"] == "no-store"


def test_other_addresses_are_not_slowed_down():
    ask(100)

    assert statuses(ask(1, address="192.0.2.2")) == [200]
    assert statuses(ask(1, address="2001:db8::1")) == [200]


def test_all_processes_count_together(monkeypatch):
    for _ in range(3):
        ask(20)
        monkeypatch.setattr(visitors, "visits", visitors.Visits())  # another process

    assert statuses(ask(20))[-1] == 429


def test_ordinary_visitors_cost_no_query(settings, django_assert_num_queries):
    settings.VISITOR_REQUESTS_PER_MINUTE = 1200

    with django_assert_num_queries(0):
        ask(200)


def test_a_visitor_that_comes_slowly_is_never_counted(monkeypatch, django_assert_num_queries):
    now = time.monotonic()
    monkeypatch.setattr(visitors.time, "monotonic", lambda: now)
    with django_assert_num_queries(0):
        for _ in range(200):
            now += 4  # a quarter of the sixty a minute that are allowed
            assert visitors.visits.wait("192.0.2.1", 60) == 0


def test_a_visitor_that_keeps_to_the_limit_in_each_process_is_counted_in_all(monkeypatch):
    now, counted = time.monotonic(), []
    monkeypatch.setattr(visitors.time, "monotonic", lambda: now)
    monkeypatch.setattr(visitors, "spend", lambda client, requests, _: counted.append(requests))
    processes = [visitors.Visits(), visitors.Visits()]
    for _ in range(300):
        now += 1
        for process in processes:
            process.wait("192.0.2.1", 60)

    assert 550 < sum(counted) <= 600


def test_a_client_that_was_refused_may_go_on_after_the_wait():
    ask(100)
    visitors.visits.by_client.clear()  # the process forgets, and so does the database
    Throttle.objects.update(until=Now() - timedelta(minutes=1))

    assert statuses(ask(1)) == [200]


def test_being_refused_makes_the_wait_no_longer():
    waits = [limiter.spend("192.0.2.1", 20, 60).total_seconds() for _ in range(10)]

    assert waits[:3] == [0, 0, 0]
    assert max(waits) <= 20


def test_files_are_not_counted():
    answers = ask(100, f"/pictures/{'ab' * 32}/480.webp")

    assert set(statuses(answers)) == {404}


def test_it_can_be_turned_off(settings):
    settings.VISITOR_REQUESTS_PER_MINUTE = 0

    assert set(statuses(ask(100))) == {200}


def test_without_an_address_nobody_is_counted_for_another():
    assert set(statuses(ask(100, address=""))) == {200}


def test_many_addresses_need_little_memory(monkeypatch):
    monkeypatch.setattr(visitors, "MOST_CLIENTS", 10)
    for n in range(100):
        visitors.visits.wait(f"192.0.2.{n}", 60)

    assert len(visitors.visits.by_client) <= 11


@pytest.mark.django_db(transaction=True)
def test_a_database_that_is_away_closes_no_page(monkeypatch):
    def refuse(*_):
        raise visitors.Error("away")

    monkeypatch.setattr(limiter, "spend", refuse)

    assert set(statuses(ask(30))) == {200}


# The address behind a proxy


@pytest.mark.parametrize(
    ("forwarded", "client"),
    [
        ("198.51.100.7", "198.51.100.7"),
        ("203.0.113.9, 198.51.100.7", "198.51.100.7"),  # the left one may be invented
        ("203.0.113.9, 198.51.100.7, 10.0.0.2", "198.51.100.7"),  # a proxy of ours
        ("10.0.0.3, 10.0.0.2", "10.0.0.3"),
        ("198.51.100.7:1234", "198.51.100.7"),
        ("[2001:db8::1]:1234", "2001:db8::1"),
        ("::ffff:198.51.100.7", "198.51.100.7"),
        ("", "127.0.0.1"),
        ("unknown", "127.0.0.1"),
        ("198.51.100.7, unknown, 10.0.0.2", "10.0.0.2"),
    ],
)
def test_behind_a_trusted_proxy_its_own_entry_is_believed(rf, settings, forwarded, client):
    settings.TRUST_PROXY, settings.TRUSTED_PROXIES = True, ["10.0.0.0/8"]
    request = rf.get("/", REMOTE_ADDR="127.0.0.1", headers={"X-Forwarded-For": forwarded})

    assert visitors.address_of(request) == client


def test_without_a_trusted_proxy_the_header_is_not_believed(rf, settings):
    settings.TRUST_PROXY = False
    request = rf.get("/", REMOTE_ADDR="192.0.2.1", headers={"X-Forwarded-For": "198.51.100.7"})

    assert visitors.address_of(request) == "192.0.2.1"
