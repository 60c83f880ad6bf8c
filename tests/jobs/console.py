"""People of the console, and jobs in any state for them to look at."""

from django.contrib.auth.models import Group, User
from django.db.models.functions import Now

from jobs.models import ENDED, Status
from tests.jobs.conftest import new_chore
from tests.testapp.models import Chore

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'><b>"


def log_in(client, group):
    user = User.objects.create_user(group, is_staff=True)
    user.groups.add(Group.objects.get(name=group))
    client.force_login(user)
    return client


def in_state(status, *names):
    """Jobs that have got there, one way or another."""
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
