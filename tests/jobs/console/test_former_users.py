"""What a person did stays, with the name, when the user is deleted."""

import re

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.db import transaction
from django.urls import reverse

from jobs.console import audit
from tests.jobs.conftest import new_chore
from tests.jobs.console.pages import page_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada():
    return acted("ada")


def acted(name):
    user = User.objects.create_user(name, is_staff=True)
    audit.note(user, [user], "Looked at.")
    return user


def authors():
    """The names in the log, without the ids of deleted users."""
    names = LogEntry.objects.values_list("user__username", flat=True)
    return sorted(re.sub(r" user \d+\)", ")", name) for name in names)


# By a program


@pytest.mark.parametrize(
    "delete",
    [lambda user: user.delete(), lambda user: User.objects.filter(pk=user.pk).delete()],
    ids=["one", "a queryset"],
)
def test_the_entries_stay_with_the_name(ada, delete):
    delete(ada)

    assert authors() == ["ada (deleted)"]
    assert not User.objects.filter(username="ada").exists()


def test_the_user_that_keeps_the_name_can_not_log_in(ada, client):
    ada.delete()

    kept = User.objects.get()
    assert (kept.is_active, kept.is_staff, kept.is_superuser) == (False, False, False)
    assert not kept.has_usable_password()


def test_many_at_once_keep_their_own_names(ada):
    acted("bob")
    User.objects.create_user("idle")

    User.objects.all().delete()

    assert authors() == ["ada (deleted)", "bob (deleted)"]
    assert not User.objects.filter(username__startswith="idle").exists()


def test_a_second_person_of_that_name_is_not_taken_for_the_first(ada):
    ada.delete()
    acted("ada").delete()

    assert authors() == ["ada (deleted)"] * 2
    assert LogEntry.objects.values("user").distinct().count() == 2


def test_deleting_the_one_who_keeps_the_name_loses_nothing(ada):
    ada.delete()
    acted("ada")

    User.objects.order_by("-pk").delete()

    assert authors() == ["ada (deleted)"] * 2


def test_the_longest_name_still_fits():
    acted("x" * 150).delete()

    [name] = authors()
    assert len(User.objects.get().username) == 150
    assert name.endswith("x (deleted)")


def test_a_deletion_that_is_rolled_back_moves_nothing(ada):

    with transaction.atomic():
        ada.delete()
        transaction.set_rollback(True)

    assert authors() == ["ada"]


def test_a_jobs_page_still_says_who_it_was(operator, ada):
    job = new_chore("sweep")
    audit.note(ada, [job], "Requeued.")

    ada.delete()

    assert "<b>ada (deleted user " in page_of(operator, job)


# In the admin


def test_the_admin_refuses_and_says_what_to_do_instead(admin_client, ada):
    page = reverse("admin:auth_user_delete", args=[ada.pk])

    for answer in (
        admin_client.get(page, follow=True),
        admin_client.post(page, {"post": "yes"}, follow=True),
    ):
        assert "Untick “Active” instead" in answer.text
    assert User.objects.filter(pk=ada.pk).exists()


def test_a_user_who_has_done_nothing_is_deleted(admin_client):
    idle = User.objects.create_user("idle")

    admin_client.post(reverse("admin:auth_user_delete", args=[idle.pk]), {"post": "yes"})

    assert not User.objects.filter(pk=idle.pk).exists()


def test_nobody_deletes_many_at_once(admin_client, ada):
    data = {"action": "delete_selected", "_selected_action": [ada.pk], "post": "yes"}

    admin_client.post(reverse("admin:auth_user_changelist"), data)

    assert User.objects.filter(pk=ada.pk).exists()


def test_who_may_not_delete_is_refused_as_before(operator, ada):
    page = reverse("admin:auth_user_delete", args=[ada.pk])

    assert operator.get(page).status_code == 403
