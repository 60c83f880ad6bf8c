"""The console's pages of API tokens."""

import re

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User

from config.doors import tokens
from config.doors.models import ApiToken
from guides.models import Guide
from tests.guides.handover import guide

pytestmark = pytest.mark.django_db

LIST = "/admin/config/apitoken/"


@pytest.fixture(autouse=True)
def closed(settings):
    settings.API_TOKEN = ""


@pytest.fixture
def superuser(client):
    client.force_login(User.objects.create_superuser("anna"))
    return client


def secret_in(page):
    return re.search(r">(tabie_[^<]+)<", page.content.decode())[1]


def make(superuser, name="atlas"):
    return superuser.post(f"{LIST}add/", {"name": name, "pictures_per_day": "7"})


def page_of(token):
    return f"{LIST}{token.pk}/"


def opens(client, secret):
    headers = {"Authorization": f"Bearer {secret}"}
    answer = client.post(
        "/api/guides/", guide("Gate"), content_type="application/json", headers=headers
    )
    return answer.status_code in (200, 201)


def test_a_new_token_shows_its_secret_once(superuser, client):
    page = make(superuser)

    secret = secret_in(page)
    assert "no-store" in page.headers["Cache-Control"]
    assert opens(client, secret)
    assert Guide.objects.exists()
    token = ApiToken.objects.get()
    assert (token.name, token.pictures_per_day) == ("atlas", 7)
    for address in (LIST, f"{page_of(token)}change/"):
        shown = superuser.get(address).content.decode()
        assert "atlas" in shown
        assert secret not in shown


def test_a_rotated_token_has_a_new_secret_and_the_old_one_is_void(superuser, client):
    old = secret_in(make(superuser))
    token = ApiToken.objects.get()

    new = secret_in(superuser.post(f"{page_of(token)}rotate/"))

    assert not opens(client, old)
    assert opens(client, new)
    assert LogEntry.objects.filter(change_message__startswith="Rotated").exists()
    assert not LogEntry.objects.filter(change_message__contains=new).exists()


def test_a_revoked_token_is_void_for_good(superuser, client):
    secret = secret_in(make(superuser))
    token = ApiToken.objects.get()

    page = superuser.post(f"{page_of(token)}revoke/", follow=True)

    assert "The token atlas no longer works." in page.content.decode()
    assert not opens(client, secret)
    assert superuser.post(f"{page_of(token)}rotate/").status_code == 404
    assert LogEntry.objects.filter(change_message="Revoked.").exists()


def test_saving_the_form_changes_neither_secret_nor_count(superuser, client):
    secret = secret_in(make(superuser))
    opens(client, secret)
    token = ApiToken.objects.get()

    superuser.post(f"{page_of(token)}change/", {"name": "boreas", "pictures_per_day": "9"})

    token.refresh_from_db()
    assert (token.name, token.pictures_per_day, token.used) == ("boreas", 9, 1)
    assert opens(client, secret)


def test_the_token_of_the_setting_is_shown_and_has_no_buttons(superuser, client, settings):
    settings.API_TOKEN = "a secret of the setting, long enough"
    opens(client, settings.API_TOKEN)
    token = ApiToken.objects.get()

    page = superuser.get(f"{page_of(token)}change/").content.decode()

    assert "the setting API_TOKEN" in page
    assert "/rotate/" not in page
    assert superuser.post(f"{page_of(token)}rotate/").status_code == 404
    assert superuser.post(f"{page_of(token)}revoke/").status_code == 404
    assert settings.API_TOKEN not in page


def test_no_other_token_takes_the_name_of_the_settings(superuser):
    assert make(superuser, "API_TOKEN").status_code == 200
    assert not ApiToken.objects.exists()


@pytest.mark.parametrize("verb", ["rotate", "revoke"])
def test_only_a_post_by_a_person_with_permission_changes_a_token(operator, superuser, verb):
    token = ApiToken(name="atlas")
    tokens.give_secret(token)
    token.save()
    before = token.digest

    assert superuser.get(f"{page_of(token)}{verb}/").status_code == 405
    operator.force_login(User.objects.get(username="operators"))
    assert operator.post(f"{page_of(token)}{verb}/").status_code == 403
    assert operator.get(LIST).status_code == 403

    token.refresh_from_db()
    assert (token.digest, token.revoked_at) == (before, None)
