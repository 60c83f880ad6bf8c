"""Not too often: no further job with a key until some time after the last one was enqueued."""

import os
import threading
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.db.models.functions import Now

from jobs import queue
from jobs.models import Cooldown, Process
from jobs.queue import processes
from tests.jobs import forked
from tests.jobs.conftest import elsewhere, in_another_thread
from tests.jobs.processes import environment
from tests.testapp.models import Digest, NoopJob

pytestmark = pytest.mark.django_db(transaction=True)

HOUR = timedelta(hours=1)


def ask(*keys, **columns):
    jobs = [Digest(unique_key=key, **columns) for key in keys or ["week"]]
    return queue.enqueue(jobs, not_within=HOUR)


def end(worker):
    worker.succeed(*worker.claim(Digest, slots=10))


def let_it_pass(**which):
    Cooldown.objects.filter(**which).update(until=Now() - timedelta(seconds=1))


def test_after_the_end_of_the_job_the_cooldown_still_refuses(worker):
    ask()
    end(worker)

    assert ask() == []
    assert Digest.objects.count() == 1


def test_after_its_end_the_next_one_is_allowed_and_begins_another(worker):
    ask()
    end(worker)
    let_it_pass()

    assert len(ask()) == 1
    end(worker)
    assert ask() == []


def test_while_the_job_is_open_no_cooldown_begins():
    """A refused wish must not move the moment from which the next one is allowed."""
    ask()
    let_it_pass()
    passed = Cooldown.objects.get().until

    assert ask() == []
    assert Cooldown.objects.get().until == passed


def test_a_refused_one_does_not_make_the_cooldown_longer(worker):
    ask()
    end(worker)
    until = Cooldown.objects.get().until

    ask()

    assert Cooldown.objects.get().until == until


def test_several_keys_in_one_call_are_refused_one_by_one(worker):
    ask("a", "c")
    end(worker)
    let_it_pass(key="c")

    created = ask("a", "b", "c")

    assert {job.unique_key for job in Digest.objects.with_ids(created)} == {"b", "c"}


def test_more_keys_than_a_statement_takes_are_all_kept_apart(worker, monkeypatch):
    monkeypatch.setattr("jobs.queue.uniqueness.MOST_KEYS", 2)
    keys = [f"key {number}" for number in range(5)]

    assert len(ask(*keys)) == 5
    end(worker)
    assert ask(*keys) == []


def test_the_same_key_of_another_kind_is_another_key():
    ask()

    assert len(queue.enqueue([NoopJob(unique_key="week")], not_within=HOUR)) == 1


def test_without_not_within_a_cooldown_is_not_asked_about(worker):
    ask()
    end(worker)

    assert len(queue.enqueue([Digest(unique_key="week")])) == 1


def test_it_is_rolled_back_with_its_caller():
    with transaction.atomic():
        ask()
        transaction.set_rollback(True)

    assert len(ask()) == 1


def test_a_process_counts_only_what_was_allowed(worker):
    ask("a")
    end(worker)
    process = processes.start("weeks")

    ask("a", "b", process_id=process.pk)

    process = Process.objects.get()
    assert (process.total, process.open) == (1, 1)


def test_a_clock_that_steps_back_does_not_refuse_the_first(monkeypatch):
    """Between the statements that make the row and read it."""
    monkeypatch.setattr("jobs.queue.uniqueness.Now", lambda: Now() - timedelta(minutes=5))

    assert len(ask()) == 1


def test_a_program_that_deletes_the_row_ends_the_cooldown(worker):
    ask()
    end(worker)
    Cooldown.objects.all().delete()

    assert len(ask()) == 1


@pytest.mark.parametrize(
    "time", [timedelta(0), timedelta(seconds=-1), timedelta(days=100_000), 60, "1 hour"]
)
def test_a_time_that_makes_no_sense_is_refused_by_name(time):
    with pytest.raises(ValueError, match="not_within="):
        queue.enqueue([Digest(unique_key="week")], not_within=time)
    assert not Digest.objects.exists()


# Sessions at once


def test_one_that_waits_for_another_is_refused_even_if_its_job_has_ended(worker):
    def ask_and_end():
        ask()
        end(worker)

    with elsewhere(ask_and_end):
        found = []
        second = threading.Thread(target=lambda: found.append(in_another_thread(ask)))
        second.start()
    second.join()

    assert found == [[]]
    assert Digest.objects.count() == 1


def test_one_that_waits_for_another_that_gives_up_is_allowed():
    def ask_in_vain():
        ask()
        transaction.set_rollback(True)

    with elsewhere(ask_in_vain):
        found = []
        second = threading.Thread(target=lambda: found.append(in_another_thread(ask)))
        second.start()
    second.join()

    assert len(found[0]) == 1


@pytest.mark.long
@pytest.mark.parametrize("options", [[], ["--ends-at-once", "--asks=3"]], ids=["open", "ended"])
def test_of_fifty_processes_one_enqueues(tmp_path, options):
    connection.close()
    command = ["race", str(tmp_path), *options]
    race = forked.start(command, os.environ | environment(), tmp_path / "log")
    race.join()

    answers = [file.read_text() for file in tmp_path.iterdir() if file.name.isdigit()]
    assert race.exitcode == 0, (tmp_path / "log").read_text()
    assert len(answers) == 50
    assert [answer for answer in answers if answer] == [str(Digest.objects.get().pk)]
