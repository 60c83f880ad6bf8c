"""Actions on jobs: at once on one, after a preview on many, always with an audit entry."""

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.urls import reverse

from jobs.console import actions
from jobs.models import Status
from tests.jobs.console.pages import choose, in_state, log_in, press, statuses
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db(transaction=True)


# One


@pytest.mark.parametrize(
    ("action", "origin", "target"),
    [
        ("requeue", Status.FAILED, Status.QUEUED),
        ("requeue", Status.CANCELED, Status.QUEUED),
        ("requeue", Status.SUCCEEDED, Status.SUCCEEDED),  # only "rerun" does it
        ("requeue", Status.PROCESSING, Status.PROCESSING),
        ("requeue_first", Status.FAILED, Status.QUEUED),
        ("rerun", Status.SUCCEEDED, Status.QUEUED),
        ("cancel", Status.QUEUED, Status.CANCELED),
        ("cancel", Status.PROCESSING, Status.CANCELED),
        ("cancel", Status.SUCCEEDED, Status.SUCCEEDED),
        ("remove", Status.QUEUED, Status.QUEUED),
    ],
)
def test_a_button_does_what_it_says_and_nothing_else(operator, action, origin, target):
    [job] = in_state(origin, "sweep")

    assert press(operator, action, job).status_code == 200

    assert statuses() == {"sweep": target}


def test_an_ended_job_is_deleted_and_that_is_remembered(operator):
    [job] = in_state(Status.FAILED, "sweep")

    press(operator, "remove", job)

    assert not Chore.objects.exists()
    assert LogEntry.objects.get(object_id=str(job.id)).change_message == "Deleted."


def test_who_did_it_stands_on_the_page_of_the_job(operator):
    [job] = in_state(Status.FAILED, "sweep")

    page = press(operator, "requeue", job)

    entry = LogEntry.objects.get()
    assert (entry.user.username, entry.change_message) == ("operators", "Requeued.")
    assert "What people did" in page.text
    assert "Requeued." in page.text


def test_an_action_without_an_effect_is_not_written_down(operator):
    [job] = in_state(Status.SUCCEEDED, "sweep")

    press(operator, "requeue", job)

    assert not LogEntry.objects.exists()


# Permissions


@pytest.mark.parametrize("action", sorted(actions.ACTIONS))
def test_a_viewer_is_refused_even_if_the_request_is_made_by_hand(client, action):
    viewer = log_in(client, "viewers")
    [failed] = in_state(Status.FAILED, "a")
    [queued] = in_state(Status.QUEUED, "b")

    assert press(viewer, action, failed).status_code == 403
    assert press(viewer, action, queued).status_code == 403
    choose(viewer, action, failed, queued, before="2099-01-01T00:00:00+00:00")

    assert statuses() == {"a": "failed", "b": "queued"}


def test_who_may_requeue_may_not_therefore_delete(client):
    user = User.objects.create_user("half", is_staff=True)
    user.user_permissions.add(
        *Permission.objects.filter(codename__in=["view_chore", "change_chore"])
    )
    client.force_login(user)
    [job] = in_state(Status.FAILED, "sweep")

    assert press(client, "remove", job).status_code == 403
    choose(client, "remove", job)
    assert Chore.objects.exists()
    press(client, "requeue", job)
    assert statuses() == {"sweep": "queued"}


@pytest.mark.parametrize("action", sorted(actions.ACTIONS))
def test_nothing_is_done_by_get(operator, action):
    [job] = in_state(Status.FAILED, "sweep")

    answer = operator.get(reverse("admin:testapp_chore_act", args=[job.id, action]))

    assert answer.status_code == 405
    assert statuses() == {"sweep": "failed"}


def test_nothing_is_done_without_the_token(client, django_user_model):
    from django.test import Client

    strict = Client(enforce_csrf_checks=True)
    strict.force_login(django_user_model.objects.create_superuser("root"))
    [job] = in_state(Status.FAILED, "sweep")

    assert press(strict, "requeue", job).status_code == 403
    assert choose(strict, "requeue", job).status_code == 403
    assert statuses() == {"sweep": "failed"}


def test_an_action_that_does_not_exist_is_not_found(operator):
    [job] = in_state(Status.FAILED, "sweep")

    assert press(operator, "nonsense", job).status_code == 404
