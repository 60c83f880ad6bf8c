import pytest
from django.contrib.auth.models import Permission, User
from django.urls import reverse

from jobs import queue
from jobs.errors import PermanentError
from jobs.models import Status
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db(transaction=True)

LIST = "admin:testapp_chore_changelist"


def test_a_failed_job_is_requeued_from_the_list(admin_client, worker, chore):
    worker.fail(worker.claim_one(), PermanentError("no"))

    page = act(admin_client, "requeue", chore)

    assert Chore.objects.get().status == Status.QUEUED
    assert "Jobs queued again: 1." in page


def test_what_is_left_alone_is_said(admin_client, worker, chore):
    worker.claim_one()

    page = act(admin_client, "requeue", chore)

    assert Chore.objects.get().status == Status.PROCESSING
    assert "Not changed, because they are processing: 1." in page


def test_a_job_is_canceled_from_the_list_by_name(admin_client, chore):
    page = act(admin_client, "cancel", chore)

    assert Chore.objects.get().last_error == "Canceled by admin."
    assert "Jobs canceled: 1." in page


@pytest.mark.parametrize("action", ["requeue", "cancel"])
def test_who_may_only_look_can_not_act(client, chore, action):
    viewer = User.objects.create_user("viewer", is_staff=True)
    viewer.user_permissions.add(Permission.objects.get(codename="view_chore"))
    client.force_login(viewer)

    act(client, action, chore)

    assert Chore.objects.get().status == Status.QUEUED


def test_the_page_of_a_job_shows_its_history_with_errors_escaped(admin_client, worker, chore):
    worker.fail(worker.claim_one(), PermanentError("<script>alert(1)</script>"))

    page = admin_client.get(reverse("admin:testapp_chore_change", args=[chore.id]))

    assert "&lt;script&gt;alert(1)" in page.content.decode()
    assert "<script>alert(1)" not in page.content.decode()


def test_nothing_of_a_job_can_be_edited_by_hand(admin_client, chore):
    url = reverse("admin:testapp_chore_change", args=[chore.id])

    admin_client.post(url, {"status": "succeeded", "attempts": 2})

    row = Chore.objects.get()
    assert (row.status, row.attempts) == (Status.QUEUED, 0)


@pytest.mark.parametrize("model", ["attempt", "worker"])
def test_attempts_and_workers_are_shown_and_not_changed(admin_client, worker, chore, model):
    worker.succeed(worker.claim_one())

    page = admin_client.get(reverse(f"admin:jobs_{model}_changelist"))
    add = admin_client.get(reverse(f"admin:jobs_{model}_add"))

    assert (page.status_code, add.status_code) == (200, 403)


def act(client, action, *jobs):
    data = {"action": action, "_selected_action": [job.id for job in jobs]}
    return client.post(reverse(LIST), data, follow=True).content.decode()


def test_a_list_of_jobs_can_be_filtered_and_searched(admin_client, chore):
    queue.enqueue([Chore(name="other")])

    page = admin_client.get(reverse(LIST), {"q": str(chore.id), "status__exact": "queued"})

    assert page.context["cl"].result_count == 1
