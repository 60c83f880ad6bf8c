"""manage.py jobs: the same functions for scripts, with exit codes they can rely on."""

import re
from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.db.models.functions import Now

from jobs import queue
from jobs.console import actions, counting
from jobs.errors import PermanentError
from jobs.models import Provider, Status, Worker, uuid7
from jobs.paid import limits, pausing
from tests.jobs.conftest import new_chore
from tests.jobs.console.commands import as_data, run
from tests.jobs.console.pages import in_state, statuses
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db(transaction=True)


def test_status_is_well_or_needs_a_person():
    new_chore("due")
    assert run("status")[1] == 1  # no worker
    Worker.objects.create(
        name="w", slots=1, version="1", lease_expires_at=Now() + timedelta(hours=1)
    )
    assert run("status")[1] == 0

    in_state(Status.FAILED, "a")

    text, code = run("status")
    assert code == 1
    assert "1 failed" in text
    assert as_data("status")["needs"][0]["kind"] == "failed"


def test_list_and_show_tell_the_same_story(worker, chore):
    worker.fail(worker.claim_one(), PermanentError("no water"))

    assert [row["status"] for row in as_data("list", "--status", "failed")] == ["failed"]
    shown = as_data("show", str(chore.id))
    assert (shown["last_error"], shown["history"][0]["outcome"]) == ("no water", "failed")
    assert "no water" in run("show", str(chore.id))[0]


def test_show_says_what_a_job_waits_for(chore):
    assert as_data("show", str(chore.id))["waits_for"] == "waits for its turn"


def test_a_dry_run_says_what_would_be_done(worker):
    in_state(Status.FAILED, "a", "b")
    in_state(Status.SUCCEEDED, "c")

    answer = as_data("requeue", "--all", "--dry-run")

    assert (answer["changed"], answer["left_alone"]) == (2, 1)
    assert sorted(statuses().values()) == ["failed", "failed", "succeeded"]


def test_requeue_leaves_successes_alone():
    in_state(Status.FAILED, "a", "b")
    in_state(Status.SUCCEEDED, "c")

    assert run("requeue", "--all")[1] == 0

    assert statuses() == {"a": "queued", "b": "queued", "c": "succeeded"}


def test_requeue_first_in_line():
    [job] = in_state(Status.FAILED, "a")

    run("requeue", str(job.id), "--first")

    assert Chore.objects.get().priority == queue.FIRST_IN_LINE


def test_a_named_job_that_was_left_alone_is_an_error_for_scripts():
    [job] = in_state(Status.SUCCEEDED, "a")

    assert run("requeue", str(job.id))[1] == 1
    assert run("cancel", str(uuid7()))[1] == 1


def test_cancel_only_one_kind_of_job():
    in_state(Status.QUEUED, "a")

    run("cancel", "--kind", "testapp.NoopJob")
    assert statuses() == {"a": "queued"}
    run("cancel", "--kind", "testapp.Chore", "--status", "queued")

    assert statuses() == {"a": "canceled"}


def test_who_did_it_is_in_the_log():
    User.objects.create_user("anna")
    in_state(Status.FAILED, "a")

    run("requeue", "--all", "--by", "anna")

    assert LogEntry.objects.get(object_id__isnull=False).user.username == "anna"


def test_pause_and_resume():
    limits.find("dear")

    assert run("pause", "dear", "--reason", "no money", "--dry-run")[1] == 0
    assert not Provider.objects.get().paused
    run("pause", "dear", "--reason", "no money")
    assert (Provider.objects.get().paused, Provider.objects.get().pause_reason) == (
        True,
        "no money",
    )
    run("resume", "dear")
    assert not Provider.objects.get().paused
    run("pause", "dear", "--minutes", "5")
    assert Provider.objects.get().paused_until


def test_a_shorter_pause_leaves_the_longer_one_and_says_so():
    limits.find("dear")
    run("pause", "dear", "--minutes", "60")

    text, code = run("pause", "dear", "--minutes", "5")

    assert (code, "left alone" in text) == (1, True)
    assert LogEntry.objects.count() == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["requeue"],
        ["requeue", "nonsense"],
        ["cancel", "--kind", "nothing.Here", "--all"],
        ["cancel", "--status", "gone"],
        ["requeue", "--all", "--by", "nobody"],
        ["pause", "misspelt"],
    ],
)
def test_what_makes_no_sense_is_refused(arguments):
    in_state(Status.FAILED, "a")

    assert run(*arguments)[1] == 2

    assert statuses() == {"a": "failed"}
    assert not Provider.objects.exists()


@pytest.mark.parametrize("minutes", ["-5", "0", "inf", "nan", "1e12"])
def test_a_pause_has_a_length(minutes):
    limits.find("dear")

    text, code = run("pause", "dear", "--minutes", minutes)

    assert (code, "--minutes" in text) == (2, True)
    assert not Provider.objects.exclude(paused_until=None).exists()


def test_there_is_no_such_job():
    text, code = run("show", str(uuid7()))

    assert code == 1
    assert "There is no job" in text


def test_what_nobody_put_a_name_to_was_done_by_the_command_line():
    in_state(Status.FAILED, "a")
    limits.find("dear")
    run("requeue", "--all", "--dry-run")
    assert not User.objects.exists()

    run("requeue", "--all")
    run("pause", "dear")
    run("resume", "dear")

    user = User.objects.get()
    assert (user.username, user.is_active, user.has_usable_password()) == (
        "command line",
        False,
        False,
    )
    assert LogEntry.objects.filter(user=user, object_id__isnull=False).count() == 3


def test_a_job_named_twice_is_one_job():
    [job] = in_state(Status.FAILED, "a")

    assert run("requeue", str(job.id), str(job.id).upper())[1] == 0


def test_nobody_pretends_to_have_counted_more_than_many(monkeypatch):
    in_state(Status.FAILED, *"abc")
    monkeypatch.setattr(counting, "MANY", 2)
    monkeypatch.setattr(actions, "MANY", 2)

    text, _ = run("requeue", "--all", "--dry-run")
    answer = as_data("requeue", "--all", "--dry-run")

    assert text.strip() == "requeue: would change more than 2, left alone 0, cost not known"
    assert (answer["changed"], answer["exact"], answer["cost_about"]) == (2, False, None)
    assert run("requeue", "--all")[0].startswith("requeue: changed 3,")


def test_status_counts_the_workers_that_miss_beats(alive):
    Worker.objects.update(
        last_beat_at=Now() - timedelta(seconds=34), lease_expires_at=Now() + timedelta(seconds=26)
    )

    text, code = run("status")

    assert (code, "workers alive: 1, 1 of them missed two beats" in text) == (0, True)
    assert as_data("status")["workers_late"] == 1


def test_status_is_well_without_a_worker_while_nothing_is_due():
    """Cron may start `runworker --drain` from time to time."""
    pausing.pause("unused", "no money")

    assert run("status")[1] == 0


def test_a_requeue_compares_its_cost_with_what_is_left_today(monkeypatch):
    monkeypatch.setattr(Chore, "provider_name", classmethod(lambda cls: "dear"))
    limits.find("dear")
    Provider.objects.update(price="0.04", daily_budget=1)
    in_state(Status.FAILED, "a", "b")

    text, _ = run("requeue", "--all", "--dry-run")

    cost = "cost about 0.08 USD, dear has 1.00 USD left today"
    assert text.strip() == f"requeue: would change 2, left alone 0, {cost}"
    answer = as_data("requeue", "--all", "--dry-run")
    assert (answer["cost_about"], answer["currency"]) == ("0.08", "USD")
    assert answer["left_today"] == {"dear": "1.00"}


def test_a_requeue_says_that_tokens_cost_too(monkeypatch):
    monkeypatch.setattr(Chore, "provider_name", classmethod(lambda cls: "dear"))
    limits.find("dear")
    Provider.objects.update(price="0.04", output_price=1, daily_budget=None)
    in_state(Status.FAILED, "a")

    assert "cost about 0.04 USD plus tokens" in run("requeue", "--all", "--dry-run")[0]


def test_status_prints_hints_and_is_well(monkeypatch):
    monkeypatch.setattr(Chore, "provider_name", classmethod(lambda cls: "gemini:flash"))
    limits.find("gemini:flash")
    Provider.objects.update(strategy="batch", batch_note="404 from the server", price=1)

    text, code = run("status")

    assert "hint: gemini:flash makes its calls at once, at full price: 404 from the server" in text
    assert code == 0


def test_show_says_which_error_is_from_before_the_requeue(worker, chore):
    worker.fail(worker.claim_one(), PermanentError("no water"))
    assert "last error: trying again can't help – no water" in run("show", str(chore.id))[0]

    run("requeue", str(chore.id))
    worker.claim_one()

    text, _ = run("show", str(chore.id))
    assert "last error, before the requeue: trying again can't help – no water" in text
    assert re.search(r"running since .* on fast, \d+ s", text)
    assert "runs: 2, failed: 0 of 3 allowed" in text
