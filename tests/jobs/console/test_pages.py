"""Every page of the console opens for viewers, and escapes text from outside."""

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models.functions import Now
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape

from jobs.admin import timeline
from jobs.admin.workers import WorkerAdmin
from jobs.console import audit
from jobs.models import Attempt, Call, Outcome, Provider, Status, Worker
from jobs.paid import limits, pausing
from tests.jobs.conftest import new_chore
from tests.jobs.console.pages import EVIL
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db(transaction=True)


def fill(text):
    """Put a text into every column that can hold text from outside."""
    job = new_chore(text)
    Chore.objects.update(
        status=Status.FAILED,
        finished_at=Now(),
        last_error=text,
        error_kind=text[:90],
        progress={"step": text, "done": 1, "total": 2, "text": text},
    )
    Attempt.objects.create(
        job_id=job.id,
        kind="testapp.Chore",
        epoch=1,
        worker=text,
        started_at=Now(),
        outcome=Outcome.FAILED,
        error=text,
        traceback=text,
        steps={text: 5},
    )
    provider = Provider.objects.create(name=text, paused=True, pause_reason=text)
    call = Call.objects.create(
        provider=text,
        job_id=job.id,
        kind="testapp.Chore",
        epoch=1,
        worker=text,
        key="k",
        number=1,
        payload_hash="h",
        answer_name=text,
        state="unknown",
        error=text,
        remote_id=text,
        deadline=Now(),
    )
    worker = Worker.objects.create(
        name=text, slots=1, version=text, lease_expires_at=Now() + timedelta(hours=1)
    )
    by = User.objects.create_user("author")
    for row in (job, provider):
        audit.note(by, [row], text)
    return job, provider, call, worker


def pages(job, provider, call, worker):
    from django.contrib.admin.utils import quote

    yield reverse("admin:index")
    yield reverse("admin:console")
    for model in ("testapp_chore", "jobs_attempt", "jobs_call", "jobs_provider", "jobs_worker"):
        yield reverse(f"admin:{model}_changelist")
    yield reverse("admin:testapp_chore_changelist") + "?status__exact=failed&q=alert"
    for name, row in (
        ("testapp_chore", job),
        ("jobs_attempt", Attempt.objects.get()),
        ("jobs_provider", provider),
        ("jobs_call", call),
        ("jobs_worker", worker),
    ):
        yield reverse(f"admin:{name}_change", args=[quote(row.pk)])
        yield reverse(f"admin:{name}_history", args=[quote(row.pk)])


def test_no_text_of_others_becomes_part_of_a_page(admin_client):
    for page in pages(*fill(EVIL)):
        answer = admin_client.get(page)

        assert answer.status_code == 200, page
        text = answer.content.decode()
        assert "<script>alert(1)" not in text, page
        assert "<img src=x" not in text, page


def test_a_viewer_may_open_every_page_and_gets_no_button(viewer):
    for page in pages(*fill("plain")):
        answer = viewer.get(page)

        assert answer.status_code == 200, page
        assert "/act/" not in answer.text
        assert "/pause/" not in answer.text
        assert 'name="action"' not in answer.text


def test_who_may_see_nothing_sees_nothing(client):
    client.force_login(User.objects.create_user("newcomer", is_staff=True))
    made = fill("plain")

    assert "plain" not in client.get(reverse("admin:index")).text
    for page in list(pages(*made))[2:]:
        assert client.get(page).status_code == 403, page


def test_strangers_are_sent_to_the_login(client):
    made = fill("plain")

    for page in pages(*made):
        assert client.get(page).status_code == 302


def test_the_page_of_a_job_tells_its_whole_story(admin_client):
    job, *_ = fill("the-story")

    page = admin_client.get(reverse("admin:testapp_chore_change", args=[job.id]))

    shown = page.text
    for part in ("tc-timeline", "Traceback", "5 ms", "tc-call-unknown", "Requeue first in line"):
        assert part in shown, part


CHORES = "/admin/testapp/chore/"


@pytest.mark.parametrize(
    "query",
    [
        "created_at_from=1960-01-01",
        "created_at_to=1960-01-01",
        "created_at_from=0001-01-01",
        "created_at_to=9999-12-31",
        "created_at_from=9999-12-31",
        "created_at_from=1960-01-01&created_at_to=9999-12-31",
    ],
)
def test_any_day_may_be_asked_for(admin_client, query):
    new_chore("a")
    is_found = "to=1960" not in query and "from=9999" not in query

    answer = admin_client.get(f"{CHORES}?{query}")

    assert answer.status_code == 200
    assert len(answer.context["cl"].result_list) == is_found
    day = query.replace("created_at", "started_at")
    assert admin_client.get(f"/admin/jobs/call/?{day}").status_code == 200


@pytest.mark.parametrize("name", ["status__exact", "error_kind", "worker", "provider"])
def test_nothing_is_found_by_a_nul(admin_client, name):
    assert admin_client.get(f"{CHORES}?{name}=%00").status_code == 404
    assert admin_client.get("/admin/jobs/attempt/?ended=testapp.Chore%20%00").status_code == 404


@pytest.mark.parametrize("name", ["provider", "state__exact"])
def test_no_call_is_found_by_a_nul(admin_client, name):
    limits.find("dear")  # makes the filter appear

    assert admin_client.get(f"/admin/jobs/call/?{name}=%00").status_code == 404


def test_the_page_of_a_job_says_why_its_provider_is_paused(admin_client, monkeypatch):
    job = new_chore("a")
    monkeypatch.setattr(Chore, "provider_name", classmethod(lambda cls: "dear"))
    pausing.pause("dear", EVIL)

    page = admin_client.get(f"{CHORES}{job.id}/change/").text

    assert escape(EVIL) in page
    assert EVIL not in page


def test_an_attempt_leads_to_its_job(admin_client):
    job, *_ = fill("plain")

    page = admin_client.get("/admin/jobs/attempt/").text

    assert f'href="{CHORES}{job.id}/change/"' in page


def test_a_story_that_was_cut_short_says_so(admin_client, monkeypatch):
    job, *_ = fill("plain")
    address = f"{CHORES}{job.id}/change/"
    assert "The newest" not in admin_client.get(address).text

    monkeypatch.setattr(timeline, "MOST", 1)
    page = admin_client.get(address).text

    for all_of_them in (f"/admin/jobs/attempt/?q={job.id}", f"/admin/jobs/call/?q={job.id}"):
        assert all_of_them in page
        assert len(admin_client.get(all_of_them).context["cl"].result_list) == 1


def test_the_databases_clock_tells_who_is_alive(admin_client, monkeypatch):
    fill("plain")
    Chore.objects.update(
        status=Status.PROCESSING,
        finished_at=None,
        locked_by="plain",
        locked_at=Now() - timedelta(seconds=5),
        lease_expires_at=Now() + timedelta(minutes=1),
    )
    monkeypatch.setattr(timezone, "now", lambda: datetime.now(UTC) + timedelta(days=1))

    shown = WorkerAdmin(Worker, admin.site)
    [row] = shown.get_queryset(None)
    [job] = rows = [Chore.objects.get()]
    chores = admin.site._registry[Chore]
    chores.adorn(rows)

    assert shown.state(row)[0] == "alive"
    assert shown.beat(row).endswith(" s ago")  # not "0 minutes"
    assert 5 <= float(chores.duration(job).removesuffix(" s")) < 3600  # not a day


def test_who_logs_in_without_an_aim_comes_to_the_dashboard(client):
    User.objects.create_superuser("mika", password="secret")

    answer = client.post("/admin/login/", {"username": "mika", "password": "secret"})

    assert answer.headers["Location"] == "/admin/"
