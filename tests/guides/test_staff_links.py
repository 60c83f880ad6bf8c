"""Links for staff: staff see them, and no cache gives them to visitors."""

import pytest
from django.contrib.auth.models import Permission, User

from tests.guides.pages import finish, new_guide

pytestmark = pytest.mark.django_db

EDIT = "/admin/guides/guide/kyoto/change/"


@pytest.fixture
def guide():
    made = new_guide("Gate")
    finish("Gate")
    return made


def log_in(client, *codenames, is_staff=True):
    user = User.objects.create_user("mika", is_staff=is_staff)
    user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    client.force_login(user)


@pytest.mark.parametrize("path", ["/", "/guides/kyoto/", "/nowhere/"])
def test_visitors_are_offered_nothing_of_the_staffs(client, guide, path):
    page = client.get(path).content.decode()

    assert "/admin/" not in page
    assert "/guides/new/" not in page


@pytest.mark.parametrize("path", ["/", "/guides/kyoto/"])
def test_who_is_signed_in_but_not_staff_is_a_visitor(client, guide, path):
    log_in(client, "add_guide", "change_guide", is_staff=False)

    page = client.get(path).content.decode()

    assert "/admin/" not in page
    assert "/guides/new/" not in page


@pytest.mark.parametrize(
    ("codename", "makes", "edits"),
    [("add_guide", True, False), ("change_guide", False, True), ("view_guide", False, False)],
)
def test_staff_are_offered_what_they_may_do(client, guide, codename, makes, edits):
    log_in(client, codename)

    page = client.get("/guides/kyoto/").content.decode()

    assert 'href="/admin/"' in page
    assert ('href="/guides/new/"' in page) == makes
    assert (EDIT in page) == edits


def test_an_id_that_the_admin_has_to_quote_is_edited_at_its_own_address(client):
    new_guide("Gate", plan_id="a_5Fb")
    log_in(client, "change_guide", "view_guide")

    assert "/admin/guides/guide/a_5F5Fb/change/" in client.get("/guides/a_5Fb/").content.decode()


@pytest.mark.parametrize("path", ["/", "/guides/kyoto/"])
def test_no_shared_cache_keeps_a_page_with_staff_links(client, guide, path):
    visitors = client.get(path)
    log_in(client, "add_guide")
    staffs = client.get(path)

    assert "private" in staffs.headers["Cache-Control"]
    assert "private" not in visitors.headers["Cache-Control"]
    for answer in (visitors, staffs):
        assert "Cookie" in answer.headers["Vary"]


def test_a_visitors_page_asks_for_no_session(client, guide, django_assert_max_num_queries):
    with django_assert_max_num_queries(3):
        client.get("/guides/kyoto/")
