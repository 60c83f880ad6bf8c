"""What no page of ours sends is answered with 400 and a sentence, with all security headers."""

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern, URLResolver, reverse

from config.wsgi import application
from tests.guides.conftest import save_guide

pytestmark = pytest.mark.django_db

HEADERS = ("Content-Security-Policy", "X-Frame-Options", "X-Content-Type-Options")
FORM = "application/x-www-form-urlencoded"
FORGED = ["4", "' OR 1=1 --", "\x00", "abc", "9" * 30, "1e5", "..", "日本", "_00"]


@pytest.fixture
def superuser():
    client = Client()
    client.force_login(User.objects.create_superuser("anna"))
    return client


def assert_a_sentence(answer, sentence):
    assert answer.status_code == 400
    assert sentence in answer.content.decode()
    assert all(name in answer.headers for name in HEADERS)


@pytest.fixture(autouse=True)
def as_served(monkeypatch):
    """Make requests as servers do."""
    monkeypatch.setattr("django.test.client.WSGIRequest", application.request_class)


@pytest.mark.parametrize("charset", ["utf-16", "latin-1", "utf-7", "rot13", "base64", "undefined"])
@pytest.mark.parametrize("kind", [FORM, "multipart/form-data; boundary=x"])
@pytest.mark.parametrize("path", ["/", "/nowhere/", "/admin/login/", "/api/guides/"])
def test_a_form_in_another_charset_is_refused_on_any_address(path, kind, charset):
    visitor = Client(enforce_csrf_checks=True)
    visitor.cookies["csrftoken"] = "a" * 32

    answer = visitor.generic("POST", path, b"a=b", f"{kind}; charset={charset}")

    assert_a_sentence(answer, "A form must be sent in UTF-8.")


@pytest.mark.parametrize("path", ["/", "/nowhere/", "/admin/login/", "/api/guides/"])
def test_a_content_type_that_can_not_be_read_is_no_form(path):
    visitor = Client(enforce_csrf_checks=True)
    visitor.cookies["csrftoken"] = "a" * 32

    answer = visitor.generic("POST", path, b"a=b", f"{FORM}; x*=bogus''%E4")

    assert 400 <= answer.status_code < 500
    assert all(name in answer.headers for name in HEADERS)


def test_an_address_is_read_as_utf_8_whatever_is_said_of_the_body(client):
    for charset in ["utf-16", "undefined", "rot13", "latin-1"]:
        answer = client.generic("GET", "/?page=2", b"", f"text/plain; charset={charset}")

        assert answer.status_code == 200


@pytest.mark.parametrize("charset", ["utf-8", "UTF8", "no-such"])
def test_a_form_in_utf_8_is_read_however_it_is_spelled(client, charset):
    answer = client.generic("POST", "/admin/login/", b"a=b", f"{FORM}; charset={charset}")

    assert answer.status_code == 200


@pytest.mark.few(5)
@pytest.mark.parametrize("model", admin.site._registry, ids=lambda model: model._meta.label)
def test_forged_ids_of_a_bulk_action_are_refused(superuser, model):
    page = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    actions = superuser.get(page).context["action_form"]
    names = [name for name, _ in actions.fields["action"].choices if name] if actions else []
    for name in names:
        for id in ["\x00", "' OR 1=1 --\x00"]:
            answer = superuser.post(page, {"action": name, "_selected_action": ["4", id]})

            assert_a_sentence(answer, "is not an id.")


@pytest.mark.parametrize("id", ["abc", "\x00", "1e5"])
@pytest.mark.parametrize("end", ["use/1/", "ask/"])
def test_a_spot_with_a_forged_id_is_refused(superuser, id, end):
    assert_a_sentence(superuser.post(f"/admin/guides/spotdetail/{id}/{end}"), "is not an id.")


@pytest.mark.parametrize("page", ["\x00", "abc", "0", "-1", "9" * 40])
def test_a_search_without_such_a_page_is_refused(superuser, page):
    answer = superuser.get("/admin/search/", {"s": "a", "page": page})

    assert_a_sentence(answer, "There is no such page.")


# Every address of the console, also of models that are added later


def addresses(patterns, before="/admin/"):
    for each in patterns:
        if isinstance(each, URLResolver):
            yield from addresses(each.url_patterns, before + str(each.pattern))
        elif isinstance(each, URLPattern):
            yield before + str(each.pattern)


def routes():
    return sorted(each for each in addresses(admin.site.urls[0]) if "<" in each and "^" not in each)


@pytest.mark.few(60)
@pytest.mark.search
@pytest.mark.parametrize("route", routes())
def test_no_forged_address_of_the_console_is_our_fault(superuser, route, pictures, is_long):
    save_guide("Gate")
    for forged in FORGED if is_long else FORGED[:2]:
        target = fill(route, forged)
        for send in (superuser.get, superuser.post):
            answer = send(target, {"action": forged, "_selected_action": forged, "page": forged})

            assert answer.status_code < 500, (send, target)
            assert all(name in answer.headers for name in HEADERS), target


def fill(route, forged):
    """The address with this value for each of its parts."""
    parts = route.replace(">", "<").split("<")
    for n in range(1, len(parts), 2):
        parts[n] = "9" * 30 if parts[n].startswith("int:") else forged
    return "".join(parts)
