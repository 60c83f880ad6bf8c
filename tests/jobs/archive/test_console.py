"""The console reads on from the archive, and shows what retention would do."""

import json
from datetime import timedelta

import pytest
from django.core.files.storage import storages
from django.core.management import call_command
from django.db.models.functions import Now

from jobs import queue
from jobs.console import batches
from jobs.db import clock
from jobs.models import Attempt, Call, State
from jobs.paid.batches.models import Batch
from tests.jobs.archive.old import age, archive, gone, old_call, old_chore, rows_in_database
from tests.jobs.console.pages import cards_of, page_of
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db(transaction=True)


def told(capsys, *arguments):
    call_command("jobs", *arguments)
    return capsys.readouterr().out


def test_a_jobs_page_reads_on_from_the_archive(operator):
    job = old_chore("sweep", failures=1)
    old_call(job, State.FAILED, error="out of paint", **gone(days=100))
    before = page_of(operator, job)
    archive()

    page = page_of(operator, job)

    assert not Attempt.objects.exists()
    assert not Call.objects.exists()
    assert page.count("from the archive") == 3
    for text in ("no, sweep", "Traceback", "out of paint", "<dt>runs</dt><dd>2</dd>"):
        assert text in before
        assert text in page


def test_live_attempts_come_before_archived_ones(operator, worker):
    job = old_chore("sweep", failures=1)
    archive()
    queue.requeue(Chore.objects.all())
    worker.fail(worker.claim_one(), ValueError("once more"))

    page = page_of(operator, job)

    assert page.index("once more") < page.index("no, sweep")
    assert "<dt>runs</dt><dd>3</dd>" in page


def test_an_archive_that_can_not_be_read_is_told_and_is_no_error(operator):
    job = old_chore()
    archive()
    job.refresh_from_db()
    storages["answers"].remove(job.log_ref)

    page = page_of(operator, job)

    assert "Older history is gone" in page
    assert "at least 0" in page
    assert "No worker has started it yet" not in page


def test_the_command_line_tells_that_it_does_not_know_all_runs(capsys):
    job = old_chore()
    archive()
    job.refresh_from_db()
    storages["answers"].remove(job.log_ref)

    assert "runs: at least 0" in told(capsys, "show", str(job.pk))


def test_the_command_line_shows_archived_history_too(capsys):
    job = old_chore("sweep", failures=1)
    old_call(job, State.FAILED, error="out of paint", **gone(days=100))
    archive()

    shown = told(capsys, "show", str(job.pk))

    assert shown.count("(from the archive)") == 3
    assert "runs: 2" in shown
    data = json.loads(told(capsys, "show", str(job.pk), "--json"))
    assert [each["archived"] for each in data["history"]] == [True, True]


def test_a_dry_run_tells_what_would_leave_and_changes_nothing(capsys):
    job = old_chore(failures=1)
    call = old_call(job, days=100)
    age(job, 61)
    rows = rows_in_database(job)

    shown = told(capsys, "archive", "--dry-run")
    data = json.loads(told(capsys, "archive", "--dry-run", "--json"))

    assert "leaves: 2 attempts of testapp.Chore, since " in shown
    assert "leaves: 1 calls of testapp.Chore" in shown
    assert "leaves: 1 answers of testapp.Chore" in shown
    assert "attempts and calls of ended jobs: 30 days" in shown
    assert data["leaving"][0]["rows"] == 2
    assert rows_in_database(job) == rows
    assert storages["answers"].exists(call.answer_name)


def test_a_dry_run_counts_no_answer_whose_job_ended_later(capsys):
    old_call(old_chore("late", days=50), days=100)
    requeued = old_chore("again", days=100)
    old_call(requeued, days=100)
    queue.requeue(Chore.objects.filter(pk=requeued.pk))

    shown = told(capsys, "archive", "--dry-run")

    assert "leaves: 1 attempts" in shown
    assert "answers of" not in shown
    assert "calls of testapp" not in shown


def test_a_dry_run_counts_the_results_of_batches(capsys):
    Batch.objects.create(
        provider="shop:model", status="succeeded", finished_at=Now() - timedelta(days=100), file="f"
    )

    assert "leaves: 1 batch_results" in told(capsys, "archive", "--dry-run")


def test_a_dry_run_tells_if_nothing_is_old_enough(capsys, settings):
    settings.ANSWER_RETENTION_DAYS = 0
    old_chore(days=20)

    shown = told(capsys, "archive", "--dry-run")

    assert "nothing is old enough" in shown
    assert "answers: kept for ever" in shown


def test_without_dry_run_it_is_done_now(capsys):
    job = old_chore(failures=1)
    old_call(job, days=100)
    age(job, 61)

    assert told(capsys, "archive") == "answers 1, files 1, attempts 2, calls 1\n"

    assert rows_in_database(job) == []
    assert told(capsys, "archive") == "nothing was old enough\n"


def test_a_batch_whose_calls_have_left_is_still_done(operator):
    long_ago = Now() - timedelta(days=40)
    columns = {"status": "succeeded", "finished_at": long_ago, "ended_at": long_ago}
    counts = {"total": 3, "done": 2, "failed": 1}
    sent = {"submitted_at": long_ago, "remote_id": "b"}
    Batch.objects.create(provider="shop:model", **columns, **counts, **sent)
    batch = Batch.objects.get()

    [standing] = batches.look([batch], clock.now())
    page = cards_of(operator, batch)

    assert (standing.stage.value, standing.done, standing.failed) == ("done", 2, 1)
    assert "its calls are in the archive" in page
    assert "3 / 3 (100 %)" in page
