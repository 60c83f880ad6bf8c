"""Where alerts go: a setting that can't work stops the start, and no refusal quotes a secret."""

import re

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import mail, protection


@pytest.mark.parametrize(
    "bad",
    [
        "hooks.example.org/hunter2",
        "ftp://hooks.example.org/hunter2",
        "file:///hunter2",
        "https:///hunter2",
        "https://hooks.example.org:port/hunter2",
        "https://hooks.example.org:0/hunter2",
        "https://[::1/hunter2",
        "https://hooks.example.org/hunter2 and more",
        "https://hooks.example.org/hunter2\r\nX: y",
        "https://hooks.example.org/hünter2",
        "https://me:hunter2@hooks.example.org/",
        "https://hunter2@hooks.example.org/",
        "https://hooks.example.org/#hunter2",
    ],
)
def test_an_address_that_is_none_is_refused_without_quoting_it(bad):
    with pytest.raises(ImproperlyConfigured, match="ALERT_WEBHOOK_URL: ") as refused:
        protection.address("ALERT_WEBHOOK_URL", bad)

    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    "good",
    ["", "http://10.0.0.1:8080", "https://hooks.example.org/a/b?token=%2Fx", "http://[::1]:80/"],
)
def test_an_address_stays_as_it_is(good):
    assert protection.address("ALERT_WEBHOOK_URL", f" {good}\n") == good


def test_receivers_are_separated_by_commas():
    assert protection.receivers("ALERT_EMAILS", " a@example.org,b@example.org ,") == [
        "a@example.org",
        "b@example.org",
    ]
    with pytest.raises(ImproperlyConfigured, match="ALERT_EMAILS=nobody: it is no e-mail address"):
        protection.receivers("ALERT_EMAILS", "a@example.org, nobody")


def test_a_short_secret_is_refused_without_quoting_it(monkeypatch):
    monkeypatch.setenv("ALERT_WEBHOOK_SECRET", "hunter2")

    with pytest.raises(ImproperlyConfigured, match="ALERT_WEBHOOK_SECRET is too short") as refused:
        protection.secret("ALERT_WEBHOOK_SECRET", danger="lie", shortest=16)

    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    "bad", ["mail.example.org", "smtps://hunter2@h", "smtp://", "smtp://me:hunter2@h:port"]
)
def test_a_mail_server_that_is_none_is_refused_without_quoting_it(bad):
    with pytest.raises(ImproperlyConfigured, match="EMAIL_URL: ") as refused:
        mail.read(bad, is_needed=False)

    assert "hunter2" not in str(refused.value)


def test_receivers_need_a_mail_server():
    assert mail.read("", is_needed=False) == {}
    with pytest.raises(ImproperlyConfigured, match="ALERT_EMAILS needs EMAIL_URL"):
        mail.read("", is_needed=True)


def test_a_mail_server_is_read_as_django_wants_it():
    found = mail.read("smtp+tls://me%40example.org:a%2Fb@mail.example.org:587", is_needed=True)

    assert (found["EMAIL_HOST"], found["EMAIL_PORT"]) == ("mail.example.org", 587)
    assert (found["EMAIL_HOST_USER"], found["EMAIL_HOST_PASSWORD"]) == ("me@example.org", "a/b")
    assert found["EMAIL_USE_TLS"] is True
    assert mail.read("smtp://localhost", is_needed=True)["EMAIL_PORT"] == 25


def test_a_debug_page_hides_the_addresses():
    hidden = protection.ReportFilter.hidden_settings

    for name in ("ALERT_WEBHOOK_URL", "ALERT_WEBHOOK_SECRET", "EMAIL_URL", "EMAIL_HOST_PASSWORD"):
        assert re.search(hidden, name)
