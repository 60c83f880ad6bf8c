"""/guides/new/: one form makes one guide, at an address that can be read."""

import re

import pytest
from django.contrib.auth.models import Permission

from guides.models import Guide, SpotImageJob
from tests.guides import making
from tests.guides.making import author, plan_key, saved, type_in

pytestmark = pytest.mark.django_db
staff = making.staff


# The same form twice


def test_a_form_that_is_sent_twice_makes_one_guide(staff):
    key = plan_key(staff)

    first, second = (type_in(staff, plan_key=key) for _ in range(2))

    assert first.headers["Location"] == second.headers["Location"]
    assert Guide.objects.count() == 1
    assert SpotImageJob.objects.count() == 2
    assert staff.cookies["made"].value == Guide.objects.get().plan_id


def test_who_goes_back_to_add_a_spot_pays_only_for_that(staff):
    key = plan_key(staff)
    type_in(staff, plan_key=key)

    type_in(staff, "Gate\nPond\nHill", plan_key=key)

    assert Guide.objects.count() == 1
    assert [name for name, _ in saved()] == ["Gate", "Pond", "Hill"]
    assert SpotImageJob.objects.count() == 3


def test_a_refused_form_stays_the_same_form(staff):
    key = plan_key(staff)

    assert key in type_in(staff, title="", plan_key=key).content.decode()


def test_a_new_title_makes_no_second_guide_and_keeps_the_address(staff):
    key = plan_key(staff)
    first = type_in(staff, plan_key=key).headers["Location"]

    second = type_in(staff, title="Nara", plan_key=key).headers["Location"]

    assert second == first
    assert Guide.objects.get().title == "Nara"


# Its address


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"title": "Kyoto in two days"}, "kyoto-in-two-days"),
        ({"title": "Lisboa: São Jorge & más!"}, "lisboa-sao-jorge-mas"),
        ({"title": "Ｋｙｏｔｏ 京都"}, "kyoto"),
        ({"title": "京都の二日間", "destination": "Kyoto, Japan"}, "kyoto-japan"),
        ({"title": "京都2日間", "destination": "京都府"}, "guide"),
        ({"title": "new"}, "new"),
        ({"title": "a_b _ c--d"}, "a-b-c-d"),
        ({"title": "very " * 30}, "very-very-very-very-very-very-very-very-very-very-very-very"),
        ({"title": "x" * 200}, "x" * 60),
    ],
)
def test_a_new_guide_has_an_address_that_can_be_read(staff, facts, words):
    type_in(staff, **facts)

    assert re.fullmatch(rf"{words}-[a-z2-9]{{4}}", Guide.objects.get().plan_id)


def test_two_guides_of_the_same_title_have_two_addresses(staff):
    type_in(staff)
    type_in(staff)

    assert Guide.objects.count() == 2


def test_a_guide_of_another_author_is_not_replaced_though_its_address_is_alike(staff):
    key = plan_key(staff)
    others = Guide.objects.create(plan_id=f"kyoto-{key[:4]}", title="Another Kyoto")

    location = type_in(staff, plan_key=key).headers["Location"]

    assert location == f"/guides/kyoto-{key[:8]}/"
    others.refresh_from_db()
    assert others.title == "Another Kyoto"


@pytest.mark.parametrize("codename", ["change_guide", None])
def test_who_may_edit_a_guide_finds_the_way_after_saving(client, codename):
    user = author()
    user.user_permissions.add(*Permission.objects.filter(codename=codename))
    client.force_login(user)

    page = client.get(type_in(client).headers["Location"]).content.decode()

    edit = f'href="/admin/guides/guide/{Guide.objects.get().plan_id}/change/"'
    assert (edit in page) == bool(codename)


@pytest.mark.parametrize("key", ["kyoto", "kyoto:forged", "", "\x00"])
def test_nobody_writes_over_a_guide_by_its_address(staff, guide, key):
    type_in(staff, plan_key=key)

    assert Guide.objects.count() == 2
    assert not guide.spots.exists()


def test_the_key_of_one_author_is_nothing_to_another(staff):
    key = plan_key(staff)
    type_in(staff, plan_key=key)
    staff.force_login(author("another"))

    type_in(staff, plan_key=key)

    assert Guide.objects.count() == 2
