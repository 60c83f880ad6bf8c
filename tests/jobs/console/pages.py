"""Users of the console, and jobs in any state."""

from datetime import timedelta

from django.contrib.auth.models import Group, User
from django.db.models.functions import Now
from django.urls import reverse
from django.utils import timezone

from jobs.models import ENDED, Attempt, Call, Outcome, Status, Worker, uuid7
from tests.jobs.conftest import new_chore
from tests.testapp.models import Chore

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'><b>"


def log_in(client, group):
    user = User.objects.create_user(group, is_staff=True)
    user.groups.add(Group.objects.get(name=group))
    client.force_login(user)
    return client


def attempt(ago, seconds=2.0, outcome=Outcome.SUCCEEDED, **steps):
    ended_at = timezone.now() - ago
    Attempt.objects.create(
        job_id=uuid7(),
        kind="testapp.Chore",
        epoch=1,
        worker="w",
        started_at=ended_at - timedelta(seconds=seconds),
        ended_at=ended_at,
        outcome=outcome,
        steps=steps or None,
    )


def in_state(status, *names):
    """Make jobs with this status."""
    held = {"locked_at": Now(), "locked_by": "me", "lease_expires_at": Now()}
    columns = held if status == Status.PROCESSING else {}
    finished_at = Now() if status in ENDED else None
    jobs = [new_chore(name) for name in names]
    Chore.objects.with_ids([job.id for job in jobs]).update(
        status=status, finished_at=finished_at, **columns
    )
    return jobs


def statuses():
    return dict(Chore.objects.values_list("name", "status"))


def page_of(client, job):
    """The cards of a job's page, without the columns below them."""
    page = client.get(reverse("admin:testapp_chore_change", args=[job.id])).text
    return page.partition("All columns")[0]


def cards_of(client, row):
    """The page of a process or a batch, without the columns below its cards."""
    page = client.get(reverse(f"admin:jobs_{row._meta.model_name}_change", args=[row.pk]))
    assert page.status_code == 200
    return page.text.partition("All columns")[0]


def ask(client, row, name, method="post"):
    """Press a button of that page; a GET shows what it would do."""
    url = reverse(f"admin:jobs_{row._meta.model_name}_ask", args=[row.pk, name])
    return getattr(client, method)(url, follow=True)


def new_call(job, **columns):
    facts = {"kind": "testapp.Chore", "epoch": job.epoch, "key": uuid7().hex, "number": 1}
    facts |= {"provider": "dear", "deadline": Now() + timedelta(seconds=25), **columns}
    return Call.objects.create(job_id=job.id, **facts)


def new_worker(beat, lease=timedelta(seconds=60)):
    last = Now() - timedelta(seconds=beat)
    return Worker.objects.create(
        name="w", slots=8, version="1", last_beat_at=last, lease_expires_at=last + lease
    )


LIST = reverse("admin:testapp_chore_changelist")


def press(client, action, job):
    url = reverse("admin:testapp_chore_act", args=[job.id, action])
    return client.post(url, follow=True)


def choose(client, action, *jobs, query="", **more):
    data = {"action": action, "_selected_action": [job.id for job in jobs], **more}
    return client.post(LIST + query, data, follow=True)


def confirm(client, page, action, query=""):
    """Press the button of a preview, or of a page that continues the action."""
    carried = {}
    for name, value in page.context["hidden"]:
        carried.setdefault(name, []).append(value)
    assert carried["action"] == [action]
    return client.post(LIST + query, carried, follow=True)


def do_to_many(client, action, *jobs, query="", **more):
    page = choose(client, action, *jobs, query=query, **more)
    return confirm(client, page, action, query=query)
