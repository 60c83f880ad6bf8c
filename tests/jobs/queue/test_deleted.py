"""Only ended jobs are deleted, also where an app listens to the signals of a delete."""

import pytest
from django.db import transaction
from django.db.models.signals import pre_delete

from jobs import queue
from tests.jobs.conftest import in_another_thread, new_chore
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def listened():
    """What another session can lock of a job while it is being deleted."""
    free = []

    def listen(instance, **_):
        jobs = Chore.objects.filter(id=instance.id).select_for_update(skip_locked=True)
        free.append(in_another_thread(lambda: [job.id for job in lock(jobs)]))

    pre_delete.connect(listen, sender=Chore)
    yield free
    pre_delete.disconnect(listen, sender=Chore)


def lock(jobs):
    with transaction.atomic():
        return list(jobs)


@pytest.mark.postgres
def test_a_job_that_is_being_deleted_can_not_be_requeued_meanwhile(listened):
    new_chore("sweep")
    queue.cancel(Chore.objects.all())

    Chore.objects.all().delete()

    assert listened == [[]]
    assert not Chore.objects.exists()
