"""The groups that `migrate` makes: a permission that an administrator removed stays removed."""

import pytest
from django.contrib.auth.models import Group, Permission
from django.core.management import call_command

from jobs.console.groups import OPERATORS, VIEWERS

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
