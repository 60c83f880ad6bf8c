"""One job at a time per key: while it is queued, or while it is open."""

import threading
from datetime import timedelta

import pytest
from django.db import connection, transaction

from jobs import queue
from jobs.errors import LeaseLost, Snooze
from jobs.models import Outcome, Status, uuid7
from jobs.queue import outcomes
from jobs.queue.outcomes import End
from tests.jobs.conftest import elsewhere, expire_lease, in_another_thread, make_due
from tests.jobs.databases import a_session_waits
from tests.jobs.processes import wait_until
from tests.testapp.models import Digest

pytestmark = pytest.mark.django_db(transaction=True)

ENDINGS = {
    "success": lambda job: queue.settle([End(job, Outcome.SUCCEEDED)]),
    "failure": lambda job: queue.settle([End(job, Outcome.FAILED, error=ValueError(), final=True)]),
    "cancel": lambda job: queue.cancel(Digest.objects.filter(pk=job.pk)),
}
RETURNS = {
    "retry": ValueError("again"),
    "snooze": Snooze(0),
    "release": LeaseLost("stopping"),
}


def ask(key="week", *, unique_while="open", **columns):
    return queue.enqueue([Digest(unique_key=key, **columns)], unique_while=unique_while)


def keys():
    return sorted(Digest.objects.values_list("status", "unique_key"), key=str)


# While queued, while open


@pytest.mark.parametrize("unique_while", ["queued", "open"])
def test_a_second_one_is_skipped_while_the_first_is_queued(unique_while):
    [first] = ask(unique_while=unique_while)

    assert ask(unique_while=unique_while) == []
    assert Digest.objects.get().pk == first


def test_while_open_a_running_job_keeps_its_key(worker):
    ask()
    worker.claim_one(Digest)

    assert ask() == []


def test_while_queued_a_claim_lets_another_one_wait(worker):
    ask(unique_while="queued")
    worker.claim_one(Digest)

    assert len(ask(unique_while="queued")) == 1
    assert ask(unique_while="queued") == []
    assert keys() == [("processing", None), ("queued", "week")]


def test_without_a_word_a_key_is_held_while_open(worker):
    queue.enqueue([Digest(unique_key="week")])
    worker.claim_one(Digest)

    assert queue.enqueue([Digest(unique_key="week")]) == []


def test_other_keys_and_jobs_without_one_are_not_in_the_way():
    ask("week")

    assert len(ask("month")) == 1
    assert len(queue.enqueue([Digest(), Digest()])) == 2


def test_twins_in_one_call_become_one_job():
    twins = [Digest(unique_key="week"), Digest(unique_key="week")]

    assert len(queue.enqueue(twins)) == Digest.objects.count() == 1


# The key is free again


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_end_of_a_running_job_frees_its_key(worker, ending):
    ask()
    ENDINGS[ending](worker.claim_one(Digest))

    assert len(ask()) == 1
    assert Digest.objects.living().count() == 1


def test_canceling_a_queued_job_frees_its_key():
    ask()
    queue.cancel(Digest.objects.all())

    assert len(ask()) == 1


def test_poison_frees_its_key(worker):
    ask()
    Digest.objects.update(interruptions=2)
    [job] = worker.claim(Digest, suspect=True)
    expire_lease(job)
    queue.rescue(Digest)

    assert Digest.objects.get().status == Status.FAILED
    assert len(ask()) == 1


@pytest.mark.parametrize("error", RETURNS.values(), ids=RETURNS)
def test_a_job_that_comes_back_meets_the_one_that_took_its_place(worker, error):
    ask(unique_while="queued")
    first = worker.claim_one(Digest)
    [second] = ask(unique_while="queued")

    assert queue.settle([outcomes.from_error(first, error)]) == []

    assert keys() == [("queued", "week"), ("queued", None)]
    make_due(first)
    assert {job.pk for job in worker.claim(Digest, slots=2)} == {first.pk, second}


def test_a_rescued_job_meets_the_one_that_took_its_place(worker):
    ask(unique_while="queued")
    first = worker.claim_one(Digest)
    ask(unique_while="queued")
    expire_lease(first)

    assert len(queue.rescue(Digest)) == 1
    assert keys() == [("queued", "week"), ("queued", None)]


@pytest.mark.parametrize("error", RETURNS.values(), ids=RETURNS)
def test_while_open_a_job_that_comes_back_has_kept_its_key(worker, error):
    ask()
    queue.settle([outcomes.from_error(worker.claim_one(Digest), error)])

    assert ask() == []
    assert keys() == [("queued", "week")]


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_person_may_requeue_an_ended_job_beside_another_with_its_key(worker, ending):
    [first] = ask()
    ENDINGS[ending](worker.claim_one(Digest))
    ask()

    requeued = queue.requeue(Digest.objects.filter(pk=first))

    assert [job.pk for job in requeued] == [first]
    assert keys() == [("queued", "week"), ("queued", None)]


def test_a_claim_whose_hook_raises_keeps_the_key(worker, monkeypatch):
    ask(unique_while="queued")
    monkeypatch.setattr(Digest, "on_start", lambda self: Digest.objects.get(topic="no such"))

    worker.claim(Digest)

    assert keys() == [("queued", None)]  # claimed and failed: an attempt is used
    assert len(ask(unique_while="queued")) == 1


def test_a_hook_may_ask_for_the_next_one_with_its_own_key(worker, monkeypatch):
    ask()
    monkeypatch.setattr(Digest, "on_success", lambda self, result: ask())

    worker.succeed(worker.claim_one(Digest))

    assert keys() == [("queued", "week"), ("succeeded", None)]


# Sessions at once


def test_one_waits_for_the_other_and_is_skipped():
    with elsewhere(ask):
        found = []
        second = threading.Thread(target=lambda: found.append(in_another_thread(ask)))
        second.start()
    second.join()

    assert found == [[]]
    assert Digest.objects.count() == 1


@pytest.mark.postgres
def test_the_same_keys_in_another_order_do_not_deadlock():
    """The other one waits for "a" before it takes "b", so that we can take both."""
    found = []
    jobs = [Digest(unique_key=key) for key in "ba"]
    other = threading.Thread(
        target=lambda: found.append(in_another_thread(lambda: queue.enqueue(jobs)))
    )
    with transaction.atomic():
        ask("a")
        other.start()
        wait_until(a_session_waits)
        ask("b")
    other.join()

    assert found == [[]]
    assert Digest.objects.count() == 2


def test_a_rolled_back_caller_holds_no_key():
    with transaction.atomic():
        ask()
        transaction.set_rollback(True)

    assert len(ask()) == 1


# Plain SQL and bad values


@pytest.mark.parametrize(("unique_while", "kept"), [(None, "week"), ("queued", None)])
def test_a_row_inserted_by_plain_sql_keeps_the_rule(worker, unique_while, kept):
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO digests (id, unique_key, unique_while) VALUES (%s, 'week', %s)",
            [uuid7().hex, unique_while],
        )
    assert ask() == []

    job = worker.claim_one(Digest)

    assert keys() == [("processing", kept)]
    worker.succeed(job)
    assert keys() == [("succeeded", None)]


def test_a_job_that_older_code_ended_holds_no_key(worker):
    [first] = ask()
    worker.succeed(worker.claim_one(Digest))
    Digest.objects.filter(pk=first).update(unique_key="week")  # older code does not clear it

    assert len(ask()) == 1
    assert len(queue.requeue(Digest.objects.filter(pk=first))) == 1
    assert keys() == [("queued", "week"), ("queued", None)]


@pytest.mark.parametrize("key", ["", "x" * 501, "a\x00b", "a\ud800b", 7])
def test_a_key_that_no_index_can_hold_is_refused_by_name(key):
    with pytest.raises(ValueError, match="unique_key="):
        ask(key)
    assert not Digest.objects.exists()


def test_a_key_of_five_hundred_kanji_is_held():
    assert len(ask("旅" * 500)) == 1
    assert ask("旅" * 500) == []


@pytest.mark.parametrize(
    ("column", "argument"), [("running", None), (None, "running"), ("open", "running")]
)
def test_a_word_that_is_no_state_is_refused(column, argument):
    job = Digest(unique_key="week", unique_while=column)

    with pytest.raises(ValueError, match="unique_while='running': it must be 'queued' or 'open'"):
        queue.enqueue([job], unique_while=argument)


def test_uniqueness_without_a_key_is_refused():
    for job, options in [
        (Digest(), {"unique_while": "open"}),
        (Digest(unique_while="open"), {}),
        (Digest(), {"not_within": timedelta(1)}),
    ]:
        with pytest.raises(ValueError, match="need a unique_key"):
            queue.enqueue([job], **options)
