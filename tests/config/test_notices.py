"""robots.txt, security.txt, and the headers that every response has."""

import re

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import protection


def test_crawlers_stay_out_of_the_console(client):
    answer = client.get("/robots.txt")

    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert "Disallow: /admin/\n" in answer.text
    assert "Disallow: /\n" not in answer.text


def test_a_finder_of_a_hole_learns_where_to_report_it(client, settings):
    settings.SECURITY_CONTACT = "mailto:security@example.org"

    answer = client.get("/.well-known/security.txt")

    assert answer.text.startswith("Contact: mailto:security@example.org\nExpires: 2")
    assert re.search(r"^Expires: \d{4}-\d\d-\d\dT00:00:00Z$", answer.text, re.MULTILINE)


def test_without_a_contact_there_is_no_such_file(client):
    assert client.get("/.well-known/security.txt").status_code == 404


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("", ""),
        ("security@example.org", "mailto:security@example.org"),
        (" https://example.org/report ", "https://example.org/report"),
    ],
)
def test_a_contact_becomes_an_address(text, address):
    assert protection.contact(text) == address


@pytest.mark.parametrize("text", ["anna", "javascript:alert(1)", "a@b\nEvil: yes", "http://x"])
def test_what_is_no_contact_is_refused(text):
    with pytest.raises(ImproperlyConfigured, match="SECURITY_CONTACT"):
        protection.contact(text)


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/", "/nowhere/", "/admin/login/", "/api/", "/favicon.ico"])
def test_no_page_may_use_the_camera(client, path):
    assert "camera=()" in client.get(path).headers["Permissions-Policy"]


def test_no_cache_keeps_a_redirect_that_repeats_the_clients_words(client, settings):
    settings.SECURE_SSL_REDIRECT = True

    answer = client.get("/robots.txt", headers={"Host": "testserver:6666"})

    assert answer.status_code == 301
    assert answer.headers["Cache-Control"] == "no-store"
