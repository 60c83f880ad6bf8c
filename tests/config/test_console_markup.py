"""What every page of the console has: landmarks, a skip link, icons that nobody reads aloud."""

import re

import pytest
from django.urls import reverse

pytestmark = pytest.mark.django_db

ICON = re.compile(r"<span[^>]*material-symbols-outlined[^>]*>")
PAGES = [
    "admin:index",
    "admin:guides_spotimagejob_changelist",
    "admin:guides_guide_changelist",
    "admin:jobs_call_changelist",
    "admin:auth_user_changelist",
]


@pytest.mark.parametrize("name", PAGES)
def test_icons_are_no_part_of_a_name(admin_client, name):
    page = admin_client.get(reverse(name)).text
    in_links = re.findall(r"<(?:a|button)\b.*?</(?:a|button)>", page, re.DOTALL)

    read_aloud = [
        each for link in in_links for each in ICON.findall(link) if 'aria-hidden="true"' not in each
    ]

    assert read_aloud == []


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_landmarks_and_a_skip_link(admin_client, name):
    page = admin_client.get(reverse(name)).text

    assert page.count("<main ") == 1
    assert page.index('class="tc-skip" href="#content"') < page.index("<nav ")
    assert 'id="content"' in page
    assert "<header>" in page


def test_the_login_page_is_visible_without_javascript(client):
    page = client.get(reverse("admin:login")).text

    assert "<noscript><link" in page
    assert "unscripted.css" in page
    assert "<main " in page
