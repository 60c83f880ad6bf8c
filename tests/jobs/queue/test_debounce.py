"""However often it is asked for, it runs once; and no change that was asked for is missed."""

import threading
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.db.models.functions import Now

from jobs import queue
from tests.jobs.conftest import elsewhere, in_another_thread
from tests.jobs.processes import wait_until
from tests.testapp.models import Digest

pytestmark = pytest.mark.django_db(transaction=True)


def ask(**columns):
    return queue.enqueue([Digest(unique_key="week", **columns)], unique_while="queued")


def ask_in_a_transaction():
    with transaction.atomic():
        return ask()


def is_waited_for():
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)")
        return cursor.fetchone()[0]


def test_with_a_later_moment_many_wishes_become_one_run(worker):
    for _ in range(3):
        ask(run_after=Now() + timedelta(minutes=5))

    assert worker.claim(Digest) == []
    Digest.objects.update(run_after=Now())
    worker.claim_one(Digest)
    assert len(ask(run_after=Now() + timedelta(minutes=5))) == 1


@pytest.mark.postgres
def test_a_job_waits_for_the_commit_of_whoever_relies_on_it(worker):
    """If it ran before, it would not see the change that it was asked for."""
    ask()

    with elsewhere(ask):
        assert worker.claim(Digest) == []

    worker.claim_one(Digest)


@pytest.mark.postgres
def test_one_that_is_claimed_meanwhile_is_not_relied_on(worker):
    ask()
    found = []
    caller = threading.Thread(target=lambda: found.append(in_another_thread(ask_in_a_transaction)))

    with transaction.atomic():
        list(Digest.objects.select_for_update())
        caller.start()
        wait_until(is_waited_for)
        worker.claim_one(Digest)
    caller.join()

    assert len(found[0]) == 1


def test_wishes_in_one_call_and_one_transaction_become_one_run():
    with transaction.atomic():
        first = queue.enqueue([Digest(unique_key="week") for _ in range(2)], unique_while="queued")
        second = ask()

    assert len(first) == 1
    assert second == []
