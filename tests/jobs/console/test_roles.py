"""The groups that `migrate` makes: a permission that an administrator removed stays removed."""

from importlib import import_module
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, Permission, User
from django.core.exceptions import PermissionDenied
from django.core.management import call_command
from django.db import connection
from django.urls import reverse

from config.refusals import helpful_groups, permission_denied
from jobs.console.groups import EDITORS, OPERATORS, VIEWERS

pytestmark = pytest.mark.django_db


def migrate():
    call_command("migrate", verbosity=0)


def permissions(name):
    return set(Group.objects.get(name=name).permissions.values_list("codename", flat=True))


def take_away(name, *codenames):
    group = Group.objects.get(name=name)
    group.permissions.remove(*Permission.objects.filter(codename__in=codenames))


def test_what_was_taken_from_a_group_stays_away():
    take_away(OPERATORS, "view_provider", "change_provider", "delete_chore")
    take_away(VIEWERS, "view_call")

    migrate()

    held = permissions(OPERATORS)
    assert not held & {"view_provider", "change_provider", "delete_chore"}
    assert {"view_chore", "change_chore", "change_spotimage"} <= held
    assert "view_call" not in permissions(VIEWERS)


def test_what_is_new_is_given_to_a_group_that_was_there():
    Permission.objects.filter(content_type__model="call").delete()
    take_away(OPERATORS, "view_worker")

    migrate()

    held = permissions(OPERATORS)
    assert {"view_call", "change_call"} <= held
    assert not held & {"delete_call", "view_worker"}
    assert "view_call" in permissions(VIEWERS)


def test_a_group_that_was_deleted_is_made_again_with_all_it_needs():
    before = permissions(OPERATORS)
    Group.objects.filter(name=OPERATORS).delete()

    migrate()

    assert permissions(OPERATORS) == before


def test_an_operators_group_of_an_earlier_release_may_mend_guides():
    mend = import_module("guides.migrations.0007_operators_mend_guides").grant
    take_away(OPERATORS, "change_guide", "change_spotdetail")

    mend(apps, SimpleNamespace(connection=connection))

    assert {"change_guide", "change_spotdetail"} <= permissions(OPERATORS)


def test_groups_of_an_earlier_release_may_read_what_people_did():
    """Django had that permission before; pauses are as new as the page."""
    take_away(OPERATORS, "view_logentry")
    take_away(VIEWERS, "view_logentry")
    migrate()
    assert "view_logentry" not in permissions(OPERATORS) | permissions(VIEWERS)
    Permission.objects.filter(content_type__model="pause").delete()

    migrate()

    assert "view_logentry" in permissions(OPERATORS) & permissions(VIEWERS)
    assert "delete_logentry" not in permissions(OPERATORS)


def test_editors_make_and_edit_guides_and_touch_no_job():
    held = permissions(EDITORS)

    assert {"add_guide", "change_guide", "add_spotdetail", "delete_spotdetail"} <= held
    assert {"view_spotimagejob", "change_spotimage"} <= held
    assert not held & {"change_spotimagejob", "delete_guide", "change_provider", "change_call"}


@pytest.mark.parametrize(
    ("method", "name", "groups"),
    [
        ("post", "testapp_chore_changelist", ["operators"]),
        ("get", "guides_guide_add", ["editors"]),
        ("get", "auth_user_changelist", []),
        ("get", "guides_spotimagejob_new_picture", ["operators"]),
        ("post", "guides_spotdetail_ask", ["operators"]),
        ("post", "guides_spotdetail_use", ["editors", "operators"]),
        ("get", "new_guide", ["editors"]),
        ("get", "jobs_process_ask", ["operators"]),
        ("post", "jobs_batch_ask", ["operators"]),
    ],
)
def test_a_refusal_says_which_group_can_help(rf, method, name, groups):
    request = getattr(rf, method)("/")
    request.user = User.objects.create_user("vera", is_staff=True)
    request.user.groups.add(Group.objects.get(name=VIEWERS))
    request.resolver_match = SimpleNamespace(url_name=name)

    page = permission_denied(request, PermissionDenied())

    assert page.status_code == 403
    assert helpful_groups(request) == groups
    assert "vera" in page.text
    assert all(group in page.text for group in groups)


def test_a_refused_page_offers_the_way_back(viewer):
    page = viewer.get(reverse("new_guide"))

    assert page.status_code == 403
    assert "editors" in page.text
    assert f'href="{reverse("admin:index")}"' in page.text
