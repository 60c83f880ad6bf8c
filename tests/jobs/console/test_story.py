"""What the console says about one job is true: how it runs, its errors, its attempts."""

import re
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.db.models.functions import Now
from django.urls import reverse

from jobs import queue
from jobs.errors import Cancel, LeaseLost, OperatorsFault, PermanentError, Snooze
from jobs.models import Attempt, Call, Outcome, State
from tests.jobs.conftest import expire_lease, make_due
from tests.jobs.console.pages import new_call, new_worker, page_of, press
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db(transaction=True)


# A job that runs


def test_a_running_job_says_since_when_on_which_worker_and_at_which_step(
    admin_client, worker, chore
):
    job = worker.claim_one()
    new_call(job)

    page = page_of(admin_client, chore)

    since = f"{Chore.objects.get().locked_at:%Y-%m-%d %H:%M:%S}"
    assert re.search(rf"Running since {since} on fast, \d+ s", page)
    assert "step: generate" in page
    assert "The first attempt is running." in page
    assert "No worker has started it yet" not in page


def test_the_step_that_a_job_reports_is_shown_until_the_next_claim(admin_client, worker, chore):
    job = worker.claim_one()
    Chore.objects.update(progress={"step": "sweep", "done": 1, "total": 4, "text": ""})
    assert "step: sweep" in page_of(admin_client, chore)

    worker.fail(job, ValueError("no broom"))
    make_due(job)
    worker.claim_one()

    assert Chore.objects.get().progress is None
    assert "step:" not in page_of(admin_client, chore)


def test_the_step_after_a_call_is_not_the_call(admin_client, worker, chore):
    new_call(worker.claim_one())
    Call.objects.update(deadline=Now() - timedelta(seconds=1))
    assert "step:" not in page_of(admin_client, chore)  # its answer may be being stored

    Call.objects.update(state=State.STORED)

    assert "step: works on the answer" in page_of(admin_client, chore)


def test_a_job_of_a_dead_worker_does_not_run(admin_client, worker, chore):
    worker.claim_one()
    Chore.objects.update(lease_expires_at=Now() - timedelta(seconds=1))

    page = page_of(admin_client, chore)

    assert "Running since" not in page
    assert "by fast, which has stopped beating" in page


def test_another_worker_takes_a_lost_job_over_only_if_there_is_one(admin_client, worker, chore):
    expire_lease(worker.claim_one())

    alone = page_of(admin_client, chore)
    new_worker(beat=0)
    helped = page_of(admin_client, chore)

    assert "which has stopped beating. The job waits for another worker: none takes" in alone
    assert "which has stopped beating: another worker takes the job over." in helped


def test_failed_attempts_and_runs_are_two_numbers(admin_client, worker, chore):
    for error in (Snooze(0), Snooze(0), ValueError("no broom")):
        worker.fail(worker.claim_one(), error)
        make_due(chore)
    worker.succeed(worker.claim_one())

    page = page_of(admin_client, chore)

    assert "<dt>runs</dt><dd>4</dd>" in page
    assert "<dt>failed attempts</dt><dd>1 of 3 allowed</dd>" in page
    assert "failed attempts" in admin_client.get(reverse("admin:testapp_chore_changelist")).text


def test_a_job_waits_in_vain_for_its_turn_while_no_worker_takes_jobs(admin_client, chore):
    assert "waits for its turn – no worker takes jobs now" in page_of(admin_client, chore)

    new_worker(0)

    assert "no worker" not in page_of(admin_client, chore)


# Its last error


def test_an_error_from_before_the_requeue_is_grey_and_says_so(admin_client, worker, chore):
    worker.fail(worker.claim_one(), PermanentError("no broom"))
    assert 'class="tc-error tc-is-danger"><b>trying again' in page_of(admin_client, chore)

    press(admin_client, "requeue", chore)
    for _ in range(2):  # queued, then processing
        page = page_of(admin_client, chore)
        assert '<p class="tc-error tc-is-plain"><b>Last error, before the requeue' in page
        claimed = worker.claim()
    assert claimed == []


@pytest.mark.parametrize(
    ("requeued", "title"), [(True, "Last error, before the requeue: "), (False, "Last error: ")]
)
def test_runs_that_were_given_back_hide_no_requeue(admin_client, worker, chore, requeued, title):
    worker.fail(worker.claim_one(), OperatorsFault(reason="wrong key"))
    if requeued:
        queue.cancel(Chore.objects.all())
        Chore.objects.update(last_error="wrong key")
        queue.requeue(Chore.objects.all())
    for _ in range(2):
        make_due(chore)
        worker.fail(worker.claim_one(), LeaseLost("The worker is stopping."))

    assert f"<b>{title}" in page_of(admin_client, chore)


@pytest.mark.parametrize("error", [ValueError("no broom"), OperatorsFault(reason="wrong key")])
def test_the_error_of_a_job_that_tries_again_is_not_from_before_a_requeue(
    admin_client, worker, chore, error
):
    worker.fail(worker.claim_one(), error)
    make_due(chore)
    for _ in range(2):  # queued, then processing
        assert "<b>Last error: " in page_of(admin_client, chore)
        worker.claim()


def test_a_cancel_does_not_look_like_a_crash(admin_client, worker, chore):
    worker.claim_one()
    press(admin_client, "cancel", chore)

    page = page_of(admin_client, chore)

    assert page.count("Canceled by admin.") == 1
    assert "tc-is-danger" not in page
    assert "Traceback" not in page
    assert Attempt.objects.get().traceback is None


def test_a_job_that_cancels_itself_has_no_traceback_either(worker, chore):
    try:
        raise Cancel("not needed")
    except Cancel as error:
        worker.fail(worker.claim_one(), error)

    assert (Attempt.objects.get().error, Attempt.objects.get().traceback) == ("not needed", None)


def test_a_job_that_was_released_for_a_token_shows_no_red(admin_client, chore):
    Attempt.objects.create(
        job_id=chore.id,
        kind="testapp.Chore",
        epoch=1,
        worker="w",
        started_at=Now(),
        outcome=Outcome.RELEASED,
        error="dear allows 15 a minute.",
        traceback="Traceback",
    )

    page = page_of(admin_client, chore)

    assert '<p class="tc-error tc-is-plain">dear allows 15 a minute.' in page
    assert "Traceback" not in page


def test_a_step_has_one_colour(admin_client, worker, chore, monkeypatch):
    monkeypatch.setattr(Chore, "steps", {"prompt": "prompt", "generate": "generate"})
    facts = {"kind": "testapp.Chore", "worker": "w", "started_at": Now(), "outcome": "failed"}
    for epoch, steps in enumerate([{"prompt": 1, "generate": 2}, {"generate": 3}], start=1):
        Attempt.objects.create(job_id=chore.id, epoch=epoch, steps=steps, **facts)

    page = page_of(admin_client, chore)

    assert '<i class="tc-shade-1"></i>generate 2 ms' in page
    assert '<i class="tc-shade-1"></i>generate 3 ms' in page


# Its calls


def test_a_call_without_an_answer_is_unknown_in_every_place(admin_client, worker, chore):
    call = new_call(worker.claim_one())
    assert "under way" in page_of(admin_client, chore)
    Call.objects.update(deadline=Now() - timedelta(seconds=16))

    pages = [
        page_of(admin_client, chore),
        admin_client.get(reverse("admin:jobs_call_change", args=[call.pk])).text,
        rows_of_calls(admin_client),
        printed("show", str(chore.id)),
    ]

    assert ["unknown" in page for page in pages] == [True] * 4
    pages[1] = pages[1].partition("All columns")[0]
    assert not [page for page in pages if "under way" in page or "intent" in page]


def test_calls_are_filtered_by_the_state_that_is_shown(admin_client, worker, chore):
    call = new_call(worker.claim_one())
    Call.objects.update(deadline=Now() - timedelta(seconds=16))
    stored = new_call(chore, state=State.STORED)
    url = reverse("admin:jobs_call_changelist")

    found = {
        state: [
            row.pk
            for row in admin_client.get(url, {"state__exact": state}).context["cl"].result_list
        ]
        for state in (*State.values, "nonsense")
    }

    assert found == {
        "waiting": [],
        "intent": [],
        "stored": [stored.pk],
        "failed": [],
        "unknown": [call.pk],
        "nonsense": [],
    }


def rows_of_calls(client):
    page = client.get(reverse("admin:jobs_call_changelist"), headers={"X-Renew": "1"})
    return page.text.partition('data-live="rows"')[2]


def printed(*arguments):
    out = StringIO()
    call_command("jobs", *arguments, stdout=out)
    return out.getvalue()
