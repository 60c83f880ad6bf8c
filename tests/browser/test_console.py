"""The console in a real browser: what an operator does at two in the morning."""

import threading

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.db import connection
from django.db.models.functions import Now
from django.urls import reverse

from guides import images
from guides.models import SpotDetail, SpotImageJob
from jobs import queue
from jobs.models import Attempt, Call, Provider, Status
from jobs.paid import limits, pausing
from jobs.worker.loop import Loop
from jobs.worker.options import Options
from tests.browser.console import busy_night, hide_test_models, log_in, new_worker
from tests.browser.visitor import needs_chromium
from tests.guides.conftest import save_guide
from tests.guides.painting import give_up
from tests.jobs.processes import wait_until

pytestmark = needs_chromium

JOBS = "/admin/guides/spotimagejob/"


@pytest.fixture
def guide(transactional_db, pictures):
    return save_guide("Gate", "Pond", "Fog")


def statuses():
    return dict(SpotImageJob.objects.values_list("spot_name", "status"))


def test_a_failed_job_is_requeued_from_its_page(guide, visit):
    give_up("Gate")
    page = log_in(visit("/"), "operators")
    page.goto("/admin/")

    page.get_by_role("link", name="Failed picture jobs: 1").click()
    page.get_by_role("link", name="Gate").click()
    page.get_by_role("button", name="Requeue", exact=True).click()

    page.get_by_text("Jobs queued again: 1.").wait_for()
    assert page.get_by_role("heading", name="What people did").is_visible()
    assert statuses()["Gate"] == Status.QUEUED


def test_many_are_requeued_after_a_preview(guide, visit):
    give_up("Gate", "Pond", "Fog")
    page = log_in(visit("/"), "operators")
    page.goto(f"{JOBS}?status__exact=failed")

    page.locator(".action-toggle").first.check()
    page.locator("select[name=action]").select_option("requeue")
    page.get_by_role("button", name="Run").click()
    page.get_by_text("3 picture jobs will be changed.").wait_for()
    assert set(statuses().values()) == {Status.FAILED}
    page.get_by_role("button", name="Requeue").focus()
    page.keyboard.press("Enter")

    page.get_by_text("Jobs queued again: 3.").wait_for()
    assert set(statuses().values()) == {Status.QUEUED}


@pytest.mark.long
def test_a_long_action_goes_on_by_itself(guide, visit, monkeypatch):
    give_up("Gate", "Pond", "Fog")
    monkeypatch.setattr("jobs.admin.acting.SECONDS", 0.0)  # one chunk a request
    monkeypatch.setattr(queue, "CHUNK", 1)
    page = log_in(visit("/"), "operators")
    page.goto(f"{JOBS}?status__exact=failed")

    page.locator(".action-toggle").first.check()
    page.locator("select[name=action]").select_option("requeue")
    page.get_by_role("button", name="Run").click()
    page.get_by_role("button", name="Requeue").click()

    page.get_by_text("Jobs queued again: 3.").wait_for()
    assert set(statuses().values()) == {Status.QUEUED}


@pytest.mark.long
def test_a_provider_is_paused_with_a_reason_and_resumed(guide, visit):
    limits.find("painter")
    page = log_in(visit("/"), "operators")
    page.goto(reverse("admin:jobs_provider_change", args=["painter"]))

    page.get_by_label("reason").fill("out of blue")
    page.get_by_role("button", name="Pause").click()
    page.get_by_text("painter is paused for every worker").wait_for()
    assert Provider.objects.get().pause_reason == "out of blue"
    page.goto("/admin/")
    page.get_by_role("button", name="Resume painter").click()

    page.get_by_text("painter is open again.").wait_for()
    assert not Provider.objects.get().paused


def test_a_running_job_that_is_canceled_makes_no_call_any_more(guide, visit, monkeypatch):
    """The worker beats only every 15 s, so the call's intent must notice the cancel."""
    job = SpotImageJob.objects.get(spot_name="Gate")
    SpotImageJob.objects.exclude(id=job.id).update(status="canceled", finished_at=Now())
    begun, canceled = threading.Event(), threading.Event()
    request_for = images.request_for

    def wait_for_the_operator(*args, **kwargs):
        begun.set()
        canceled.wait(90)
        return request_for(*args, **kwargs)

    monkeypatch.setattr(images, "request_for", wait_for_the_operator)
    worker = Loop([SpotImageJob], Options(poll=0.1))
    thread = threading.Thread(target=lambda: (worker.run(), connection.close()))
    page = log_in(visit("/"), "operators")
    thread.start()
    try:
        assert begun.wait(90)
        page.goto(f"{JOBS}{job.id}/change/")
        page.get_by_role("button", name="Cancel", exact=True).click()
        page.get_by_text("Jobs canceled: 1.").wait_for()
        canceled.set()
        wait_until(lambda: not worker.held.runs)
    finally:
        canceled.set()
        worker.stop()
        thread.join(timeout=90)

    assert statuses()["Gate"] == Status.CANCELED
    assert [each.outcome for each in Attempt.objects.all()] == ["canceled"]
    assert not Call.objects.exists()


def test_a_viewer_sees_and_gets_no_button(guide, visit):
    give_up("Gate")
    job = SpotImageJob.objects.get(spot_name="Gate")
    page = log_in(visit("/"), "viewers")
    page.goto(f"{JOBS}{job.id}/change/")

    assert page.get_by_role("heading", name="Attempts").is_visible()
    assert page.get_by_role("button", name="Requeue").count() == 0
    page.goto("/admin/")
    token = page.evaluate("document.cookie.match(/csrftoken=(\\w+)/)?.[1] || ''")
    answer = page.request.post(
        f"{JOBS}{job.id}/act/requeue/",
        headers={"X-CSRFToken": token, "Referer": page.url},
        max_redirects=0,
    )

    assert answer.status == 403
    assert statuses()["Gate"] == Status.FAILED


@pytest.mark.long
def test_the_dashboard_renews_itself_and_nothing_moves(guide, visit, monkeypatch):
    hide_test_models(monkeypatch)
    window = {"width": 1280, "height": 400}
    page = log_in(visit("/", viewport=window, reduced_motion="no-preference"))
    new_worker()
    limits.find("painter")
    page.goto("/admin/")
    page.evaluate("window.same = true")
    page.evaluate("window.number = document.querySelector('.tc-failed[href*=spotimagejob] b')")
    page.evaluate("window.chart = document.querySelector('canvas')")
    page.evaluate("document.getElementById('providers-title').scrollIntoView()")
    place = where(page)

    new_worker("zephyr:1:2")  # changes a part below the visible one
    SpotImageJob.objects.update(status="failed", finished_at=Now())  # adds lines above it

    # One refresh may bring both, or each may come with its own.
    page.get_by_text("zephyr:1:2").wait_for()
    page.get_by_role("link", name="Failed picture jobs: 3").wait_for()
    page.wait_for_function("() => window.number.textContent === '3'")
    assert page.evaluate("window.same")
    assert page.evaluate("window.chart.isConnected")
    assert abs(where(page) - place) < 2


def where(page):
    return page.evaluate("document.getElementById('providers-title').getBoundingClientRect().top")


@pytest.mark.long
def test_no_button_becomes_another_under_the_finger(guide, visit):
    limits.find("gemini")
    limits.find("painter")
    page = log_in(visit("/"), "operators")
    page.goto("/admin/")
    page.get_by_role("button", name="Pause painter").focus()
    page.evaluate("window.first = document.activeElement")

    limits.find("another")  # sorts before the painter, whose row moves down
    Provider.objects.filter(name="gemini").delete()
    page.get_by_role("button", name="Pause another").wait_for()
    stayed = page.evaluate("window.first === document.activeElement && window.first.innerText")
    pausing.pause("painter", "out of blue")
    page.get_by_role("button", name="Resume painter").wait_for()

    assert stayed.split() == ["Pause", "painter"]
    assert page.get_by_role("button", name="Pause gemini").count() == 0
    assert not page.evaluate("window.first.isConnected")
    assert page.evaluate("document.activeElement === document.body")


@pytest.mark.long
def test_a_dashboard_that_is_not_renewed_says_so(guide, visit):
    page = log_in(visit("/"), "viewers")
    page.goto("/admin/")
    notice = page.get_by_text("Not refreshed since")
    refresh = "document.dispatchEvent(new Event('visibilitychange'))"
    assert not notice.is_visible()

    page.route("**/admin/console/", lambda route: route.fulfill(status=204))
    page.evaluate(refresh)
    page.evaluate(refresh)
    notice.wait_for()
    page.unroute("**/admin/console/")
    page.evaluate(refresh)
    notice.wait_for(state="hidden")
    page.context.clear_cookies()  # logged out
    page.evaluate(refresh)

    notice.wait_for()


@pytest.mark.long
def test_a_provider_can_be_paused_on_a_phone(transactional_db, pictures, visit):
    busy_night()
    page = log_in(visit("/", viewport={"width": 390, "height": 800}))
    page.goto("/admin/")

    for name in ("Pause painter", "Resume gemini"):
        box = page.get_by_role("button", name=name).bounding_box()
        assert box["x"] + box["width"] <= 390, name


@pytest.mark.long
def test_the_filters_are_opened_and_closed_by_keyboard(guide, visit):
    page = log_in(visit("/"), "viewers")
    page.goto(JOBS)
    button = page.get_by_role("button", name="Filters")

    button.focus()
    page.keyboard.press("Enter")
    sheet = page.locator("#changelist-filter")
    sheet.wait_for()
    page.wait_for_function("() => document.activeElement.closest('#changelist-filter')")
    page.keyboard.press("Escape")

    sheet.wait_for(state="hidden")
    page.wait_for_function("() => document.activeElement.classList.contains('tc-filters')")


@pytest.mark.long
def test_axe_finds_no_barrier_of_ours(transactional_db, pictures, visit, monkeypatch):
    hide_test_models(monkeypatch)
    busy_night()
    page = log_in(visit("/", reduced_motion="reduce"))
    job = SpotImageJob.objects.filter(status=Status.FAILED).first()
    spot = SpotDetail.objects.exclude(image_url="").first()

    for address in (
        "/admin/",
        f"{JOBS}{job.id}/change/",
        f"{JOBS}{job.id}/new-picture/",
        reverse("admin:guides_spotdetail_change", args=[spot.pk]),
        reverse("admin:jobs_provider_change", args=["painter"]),
    ):
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.goto(address)
            page.evaluate("Promise.allSettled(document.getAnimations().map(each => each.finished))")
            report = Axe().run(page, context=".tc-card").response
            found = [f"{address} {scheme}: {each['help']}" for each in report["violations"]]
            assert found == []


@pytest.mark.long
def test_no_page_of_the_console_is_wider_than_a_phone(transactional_db, pictures, visit):
    busy_night()
    page = log_in(visit("/", viewport={"width": 390, "height": 800}))
    job = SpotImageJob.objects.filter(status=Status.FAILED).first()

    for address in ("/admin/", JOBS, f"{JOBS}{job.id}/change/"):
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, address
