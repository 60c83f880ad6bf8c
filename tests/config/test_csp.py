"""The Content-Security-Policy header: what a page may load."""

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


@pytest.mark.parametrize(
    ("settings_", "origin"),
    [
        ({"S3_PUBLIC_URL": "https://pictures.example.org/a/"}, "https://pictures.example.org"),
        ({"S3_ENDPOINT_URL": "http://127.0.0.1:9000/"}, "http://127.0.0.1:9000"),
        ({}, "https:"),
    ],
)
def test_the_admin_shows_pictures_from_where_they_are_kept(client, settings, settings_, origin):
    settings.S3_BUCKET = "pictures"
    for name, value in settings_.items():
        setattr(settings, name, value)

    assert policy(client, "/admin/")["img-src"] == f"'self' data: {origin}"


def test_djangos_own_error_pages_are_readable(client, settings):
    settings.DEBUG = True

    assert "Content-Security-Policy" not in client.get("/nowhere/").headers
