"""What a page may load: said to the browser by a header."""

import pytest

pytestmark = pytest.mark.django_db


def policy(client, path):
    header = client.get(path).headers["Content-Security-Policy"]
    return dict(rule.split(" ", 1) for rule in header.split("; "))


@pytest.mark.parametrize("path", ["/", "/nowhere/", "/api/openapi.json", "/guides/new/"])
def test_visitors_pages_run_no_script_but_ours(client, path):
    rules = policy(client, path)

    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == rules["style-src"] == rules["connect-src"] == "'self'"
    assert rules["base-uri"] == rules["frame-ancestors"] == "'none'"


@pytest.mark.parametrize("path", ["/admin/", "/admin/login/", "/admin/nowhere/"])
def test_the_admin_is_allowed_what_alpine_needs_and_no_more(client, path):
    rules = policy(client, path)

    assert rules["script-src"] == "'self' 'unsafe-eval'"
    assert rules["default-src"] == "'none'"
    assert rules["img-src"] == "'self' data:"


def test_the_admin_shows_pictures_from_where_they_are_kept(client, settings):
    settings.S3_PUBLIC_URL = "https://pictures.example.org/bucket/"

    assert policy(client, "/admin/")["img-src"] == "'self' data: https://pictures.example.org"


def test_djangos_own_error_pages_are_readable(client, settings):
    settings.DEBUG = True

    assert "Content-Security-Policy" not in client.get("/nowhere/").headers
