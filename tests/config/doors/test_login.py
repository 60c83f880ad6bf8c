"""Guessing passwords is slow, and no person is locked out because others guess."""

import threading
from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.db.models import F
from django.test import Client

from config.doors import hashing, limiter, login
from config.doors.models import Throttle

pytestmark = pytest.mark.django_db

RIGHT = "correct horse battery"


@pytest.fixture(autouse=True)
def anna():
    return User.objects.create_superuser("anna", password=RIGHT)


@pytest.fixture(autouse=True)
def on_a_busy_machine(monkeypatch):
    """Waits that don't end while a test runs."""
    for name in ("OWN", "ADDRESS"):
        rule = getattr(login, name)
        monkeypatch.setattr(login, name, rule._replace(first=timedelta(minutes=1)))
    monkeypatch.setattr(login, "NAME", login.NAME._replace(longest=timedelta(minutes=5)))


@pytest.fixture
def knock():
    """Log in from an address, in a browser of its own or in this one."""

    def knock(password="wrong", name="anna", address="192.0.2.1", browser=None):
        data = {"username": name, "password": password}
        return (browser or Client()).post("/admin/login/", data, REMOTE_ADDR=address)

    return knock


def later(minutes):
    """Let time pass for every wait."""
    Throttle.objects.update(until=F("until") - timedelta(minutes=minutes))


def statuses(answers):
    return [answer.status_code for answer in answers]


def test_after_a_few_wrong_passwords_the_next_try_has_to_wait(knock):
    tries = [knock() for _ in range(8)]

    assert statuses(tries) == [200] * 6 + [429] * 2
    seconds = int(tries[-1].headers["Retry-After"])
    assert 1 <= seconds <= 60
    assert f"Too many wrong passwords. Try again in {seconds} s." in tries[-1].content.decode()


def test_even_the_right_password_has_to_wait(knock):
    for _ in range(6):
        knock()

    assert knock(RIGHT).status_code == 429
    later(minutes=1)
    assert knock(RIGHT).status_code == 302


def test_waits_grow_to_a_quarter_of_an_hour_and_no_further(knock, monkeypatch):
    monkeypatch.undo()
    own = login.limits_of(knock().wsgi_request, "anna")[0]
    waits = []
    for _ in range(19):
        limiter.count(own)
        waits.append(limiter.wait_for(own))
        later(minutes=15)

    seconds = [wait.total_seconds() for wait in waits]
    assert seconds[:4] == [0, 0, 0, 0]
    assert 14 * 60 < seconds[-1] <= 15 * 60
    assert own.rule.wait(6) == timedelta(seconds=1)
    assert own.rule.wait(9) == timedelta(seconds=8)
    assert own.rule.wait(10_000) == timedelta(minutes=15)


def test_waits_are_forgotten_and_then_their_rows_are_deleted(knock):
    for n in range(9):
        knock(name=f"name {n}")
    later(minutes=61)

    knock()

    assert Throttle.objects.count() == 3
    assert set(Throttle.objects.values_list("tries", flat=True)) == {1}


def test_a_login_from_elsewhere_waits_for_seconds_when_others_guess_the_name(knock):
    Throttle.objects.create(key=limiter.Limit(login.NAME, "anna").key, tries=1_000)
    knock(address="198.51.100.99")

    refused = knock(RIGHT)

    assert refused.status_code == 429
    later(minutes=5)
    assert knock(RIGHT).status_code == 302


def test_a_name_alone_never_waits_longer_than_seconds(monkeypatch):
    monkeypatch.undo()

    assert login.NAME.wait(1_000_000) == timedelta(seconds=5)
    assert login.ADDRESS.wait(1_000_000) == timedelta(minutes=1)


def test_a_browser_that_was_logged_in_before_is_not_hindered_by_others(knock):
    browser = Client()
    assert knock(RIGHT, browser=browser).status_code == 302
    browser.post("/admin/logout/")
    for _ in range(7):
        knock()  # the same name at the same address

    assert knock(RIGHT).status_code == 429
    assert knock(RIGHT, browser=browser).status_code == 302


def test_a_known_browser_can_guess_no_faster(knock):
    browser = Client()
    knock(RIGHT, browser=browser)
    browser.post("/admin/logout/")

    assert statuses(knock(browser=browser) for _ in range(8)) == [200] * 6 + [429] * 2


def test_the_cookie_of_a_browser_is_only_good_for_its_own_name(knock):
    User.objects.create_superuser("ben", password=RIGHT)
    browser = Client()
    knock(RIGHT, browser=browser)
    browser.post("/admin/logout/")
    for _ in range(6):
        knock(name="ben")

    assert knock(RIGHT, name="ben", browser=browser).status_code == 429


def test_an_address_that_tries_many_names_has_to_wait(knock):
    tries = [knock(name=f"name {n}") for n in range(23)]

    assert statuses(tries) == [200] * 21 + [429] * 2
    assert knock(name="another", address="192.0.2.2").status_code == 200


def test_without_an_address_strangers_lock_no_name(knock):
    assert statuses(knock(address="") for _ in range(7)) == [200] * 7
    assert knock(RIGHT, address="").status_code == 302


def test_an_office_that_logs_in_every_morning_does_not_wait(knock):
    assert set(statuses(knock(RIGHT) for _ in range(22))) == {302}


def test_names_are_counted_however_they_are_written(knock):
    for name in ["anna", "ANNA", " anna ", "ａｎｎａ", "Anna", "anna"]:
        knock(name=name)

    assert knock().status_code == 429


def test_a_network_of_ipv6_is_one_client(knock):
    for n in range(6):
        knock(address=f"2001:db8::{n}")

    assert knock(address="2001:db8::ffff").status_code == 429
    assert knock(address="2001:db8:1::1").status_code == 200


@pytest.mark.parametrize("name", ["", "\x00", "x" * 10_000, "a\ud800b".encode("utf-8", "replace")])
def test_odd_names_are_refused_like_others(knock, name):
    assert knock(name=name).status_code == 200


def test_nothing_that_was_typed_is_kept(knock):
    knock(name="my secret password")

    assert not Throttle.objects.filter(key__contains="secret").exists()


# Checking passwords is expensive


def test_only_a_few_passwords_are_checked_at_once(knock, monkeypatch):
    monkeypatch.setattr(hashing, "SECONDS", 0.01)
    with hashing.turn():
        refused = knock(RIGHT)

        assert refused.status_code == 503
        assert int(refused.headers["Retry-After"]) > 0
        assert "The login is busy." in refused.content.decode()
    assert knock(RIGHT).status_code == 302


def test_a_long_line_is_not_joined(monkeypatch):
    monkeypatch.setattr(hashing, "SECONDS", 30)
    inside, done = threading.Event(), threading.Event()

    def wait_in_line():
        with hashing.turn():
            inside.set()

    with hashing.turn():
        second = threading.Thread(target=wait_in_line)
        second.start()
        while hashing._line._value:
            done.wait(0.01)
        with pytest.raises(hashing.Busy), hashing.turn():
            pass
    second.join()
    assert inside.is_set()


def test_a_known_browser_has_a_line_of_its_own(knock, monkeypatch):
    browser = Client()
    knock(RIGHT, browser=browser)
    browser.post("/admin/logout/")
    monkeypatch.setattr(hashing, "_line", threading.BoundedSemaphore(1))
    with hashing._line:  # a stranger's password is about to be checked
        assert knock(RIGHT).status_code == 503
        assert knock(RIGHT, browser=browser).status_code == 302


def test_a_try_that_will_be_refused_takes_no_place_in_the_line(knock, monkeypatch):
    for _ in range(6):
        knock()
    monkeypatch.setattr(hashing, "SECONDS", 0.01)
    with hashing.turn():
        assert knock().status_code == 429


# What is noted


def test_logins_are_in_the_log_and_in_the_audit(knock, anna, caplog):
    caplog.set_level("INFO")

    knock(RIGHT)

    assert "'anna' logged in from 192.0.2.1" in caplog.text
    entry = LogEntry.objects.get()
    assert (entry.user, entry.object_id) == (anna, str(anna.pk))
    assert entry.change_message == "Logged in from 192.0.2.1."


def test_a_login_without_an_address_is_noted_in_a_whole_sentence(knock):
    knock(address="")
    knock(RIGHT, address="")

    assert list(LogEntry.objects.order_by("pk").values_list("change_message", flat=True)) == [
        "Login failed from an unknown address: 1 in a row.",
        "Logged in from an unknown address.",
    ]


def test_the_history_of_a_user_is_told_in_the_language_of_its_reader(knock, anna):
    browser = Client(headers={"Accept-Language": "ja"})
    knock(address="")
    knock(RIGHT, browser=browser)

    page = browser.get(f"/admin/auth/user/{anna.pk}/history/").content.decode()

    assert "ログインしました（接続元: 192.0.2.1）。" in page
    assert "ログインに失敗しました（接続元: 不明なアドレス、連続 1 回）。" in page


def test_failures_are_in_the_log_and_in_the_audit_with_their_number(knock, anna, caplog):
    for _ in range(5):
        knock()

    assert caplog.text.count("Login failed for 'anna' from 192.0.2.1") == 5
    assert list(LogEntry.objects.order_by("pk").values_list("change_message", flat=True)) == [
        "Login failed from 192.0.2.1: 1 in a row.",
        "Login failed from 192.0.2.1: 2 in a row.",
        "Login failed from 192.0.2.1: 4 in a row.",
    ]


def test_a_refused_login_is_in_the_log(knock, caplog):
    for _ in range(7):
        knock()

    assert "Login from 192.0.2.1 refused for" in caplog.text


def test_the_log_names_only_users_that_exist(knock, caplog):
    knock(name="my secret password")

    assert "Login failed for no known user from 192.0.2.1" in caplog.text
    assert "secret" not in caplog.text
    assert not LogEntry.objects.exists()
