"""Each process is visible from its guide, and the guide from it."""

from datetime import timedelta

import pytest
from django.db.models import F
from django.urls import reverse

from guides.derived import told
from guides.derived.models import Commission
from guides.models import Guide
from jobs import queue
from jobs.models import Process, Status
from jobs.queue import processes
from tests.guides.derived.keeping import work
from tests.jobs.console.pages import cards_of
from tests.testapp.keeping import KeepLines, ask_for_lines

pytestmark = pytest.mark.usefixtures("writer")


@pytest.fixture
def guide():
    return Guide.objects.create(plan_id="kyoto", title="Kyoto in two days", destination="Kyoto")


def page_of(client, row):
    url = reverse(f"admin:guides_{row._meta.model_name}_change", args=[row.pk])
    page = client.get(url)
    assert page.status_code == 200
    return page.text


def state():
    [standing] = told.look(Commission.objects.all())
    return standing.state


def test_the_guide_shows_who_wrote_how_many_requests_cost_and_time(operator, guide):
    commission = ask_for_lines("one", "two", plan_id="kyoto", by="mika")
    assert "2 requests" in page_of(operator, guide)
    work()
    work(KeepLines)
    Commission.objects.update(kept_at=F("created_at") + timedelta(seconds=12))

    shown = page_of(operator, guide)
    assert "by quill, 2 requests, 0.02 USD, 12 s" in shown
    assert reverse("admin:jobs_process_change", args=[commission.pk]) in shown


def test_the_process_shows_its_guide_and_the_cost_that_stays(operator, guide):
    commission = ask_for_lines("one", plan_id="kyoto")
    work()
    work(KeepLines)

    shown = cards_of(operator, Process.objects.get())
    assert "for: Kyoto in two days (poems)" in shown
    assert "0.01 USD" in shown
    assert reverse("admin:guides_guide_change", args=["kyoto"]) in shown
    assert reverse("admin:guides_commission_change", args=[commission.pk]) in shown


def test_the_process_of_a_deleted_guide_names_its_subject(operator):
    ask_for_lines("one", plan_id="gone")

    assert "for: Rain (poems)" in cards_of(operator, Process.objects.get())


def test_a_commission_waits_is_kept_or_needs_a_person(operator):
    ask_for_lines("one", script="fail")
    assert state() == "waiting"
    work()
    assert state() == "waiting"
    work(KeepLines)
    assert state() == "failed"
    assert "ended, what followed failed" in cards_of(operator, Process.objects.get())

    KeepLines.objects.update(script="")
    queue.requeue(KeepLines.objects.all())
    assert state() == "waiting"
    work(KeepLines)
    assert state() == "kept"


@pytest.mark.parametrize("spoil", ["cancel", "delete", "forget"])
def test_a_commission_without_its_keeper_needs_a_person(spoil):
    ask_for_lines("one")
    work()
    match spoil:
        case "cancel":
            queue.cancel(KeepLines.objects.all())
        case "delete":
            queue.cancel(KeepLines.objects.all())
            KeepLines.objects.all().delete()
        case "forget":
            Process.objects.all().delete()

    assert state() == "failed"


def test_a_commission_that_nothing_follows_does_not_wait():
    ask_for_lines("one")
    processes.let_nothing_follow(Process.objects.get())

    work()

    assert state() == "failed"


def test_the_list_of_commissions_is_found_by_guide_and_process(operator, guide):
    commission = ask_for_lines("one", plan_id="kyoto")
    ask_for_lines("two", plan_id="nara")
    url = reverse("admin:guides_commission_changelist")

    for term in ("kyoto", commission.pk):
        [row] = operator.get(f"{url}?q={term}").context["cl"].result_list
        assert row == commission
    assert len(operator.get(url).context["cl"].result_list) == 2
    assert "1 request" in page_of(operator, commission)


def test_the_keeper_of_a_commission_is_linked(operator):
    commission = ask_for_lines("one")
    work()
    job = KeepLines.objects.get()
    assert job.status == Status.QUEUED

    link = reverse("admin:testapp_keeplines_change", args=[job.pk])
    assert link in page_of(operator, commission)
    assert link in cards_of(operator, Process.objects.get())
