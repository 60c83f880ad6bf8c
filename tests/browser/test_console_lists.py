"""Lists and pages of the console in a real browser: they renew themselves, on any screen."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth.models import Group, User
from django.db.models.functions import Now
from django.urls import reverse

from guides.models import SpotImageJob
from jobs.models import Call, Status
from tests.browser.console import busy_night, hide_test_models, log_in
from tests.browser.visitor import needs_chromium
from tests.guides.conftest import save_guide
from tests.guides.painting import give_up

pytestmark = needs_chromium

JOBS = "/admin/guides/spotimagejob/"
NOW = "document.dispatchEvent(new Event('visibilitychange'))"  # renew without waiting
ZOOMED = {"width": 640, "height": 450}  # a window of 1280 at 200 %


@pytest.fixture
def guide(transactional_db, pictures):
    return save_guide("Gate", "Pond", "Fog")


def test_a_list_renews_itself_but_not_under_a_person_s_selection(guide, visit):
    page = log_in(visit("/"), "operators")
    page.goto(f"{JOBS}?status__exact=failed")
    page.get_by_text("Nothing found").wait_for()

    give_up("Gate", "Pond")
    page.evaluate(NOW)
    page.get_by_role("link", name="Gate").wait_for()
    assert page.get_by_role("link", name="Failed 2").get_attribute("aria-current") == "page"
    page.locator("input.action-select").first.check()
    page.get_by_text("1 of 2 selected").wait_for()  # also in rows that came later

    SpotImageJob.objects.filter(spot_name="Gate").delete()
    page.evaluate(NOW)
    page.wait_for_timeout(300)
    assert page.get_by_role("link", name="Gate").is_visible()
    page.locator("input.action-select").first.uncheck()
    page.evaluate(NOW)
    page.get_by_role("link", name="Gate").wait_for(state="detached")

    page.locator(".action-toggle").first.check()
    page.get_by_text("1 of 1 selected").wait_for()


# Counts the requests and leaves each without an answer until `answer()`.
SLOW = """
  window.asked = 0;
  window.fetch = () => new Promise((done) => {
    window.asked += 1;
    window.answer = () => done(new Response(null, { status: 304 }));
  });
"""


def test_a_right_click_does_not_end_renewal_and_a_slow_answer_is_asked_for_once(guide, visit):
    page = log_in(visit("/"), "viewers")
    page.add_init_script(SLOW)
    page.goto(JOBS)

    page.evaluate("document.dispatchEvent(new PointerEvent('pointerdown', { button: 2 }))")
    assert not page.evaluate("isPressed")
    for swallowed in ("contextmenu", "blur"):  # no pointerup follows
        page.evaluate("document.dispatchEvent(new PointerEvent('pointerdown', { button: 0 }))")
        assert page.evaluate("isPressed")
        page.evaluate(f"dispatchEvent(new Event('{swallowed}'))")
        assert not page.evaluate("isPressed")

    page.evaluate(NOW)
    page.evaluate(NOW)
    assert page.evaluate("asked") == 1
    page.evaluate("answer()")
    page.evaluate(NOW)
    assert page.evaluate("asked") == 2


def test_a_job_s_page_follows_its_job_and_stops_when_it_has_ended(guide, visit):
    job = SpotImageJob.objects.get(spot_name="Gate")
    page = log_in(visit("/"), "operators")
    page.goto(f"{JOBS}{job.id}/change/")
    page.get_by_role("button", name="Cancel").focus()
    page.evaluate("window.same = true")

    give_up("Gate")
    page.evaluate(NOW)
    page.get_by_role("button", name="Requeue", exact=True).wait_for()

    assert page.evaluate("window.same")
    assert page.get_by_role("button", name="Cancel").count() == 0
    assert page.evaluate("Boolean(document.querySelector('[data-final]'))")


@pytest.mark.long
def test_the_menus_are_reached_by_keyboard_at_200_percent(guide, visit):
    page = log_in(visit("/", viewport=ZOOMED), "viewers")
    page.goto(JOBS)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "tc-skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"

    page.get_by_role("button", name="Menu").focus()
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.activeElement.closest('#nav-sidebar')")
    account = page.get_by_role("button", name="Account: viewers")
    account.focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Log out").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Log out").wait_for(state="hidden")
    assert page.evaluate("document.activeElement.getAttribute('aria-controls')") == "account-menu"
    page.keyboard.press("Escape")
    page.wait_for_function("() => document.activeElement.classList.contains('tc-menu')")

    assert page.evaluate("document.documentElement.scrollWidth") <= ZOOMED["width"]


def test_a_person_logs_in_and_acts_without_javascript(guide, visit):
    give_up("Gate")
    user = User.objects.create_user("vera", password="quiet-harbour-7", is_staff=True)
    user.groups.add(Group.objects.get(name="operators"))
    page = visit("/admin/login/?next=/admin/", java_script_enabled=False)

    page.get_by_label("Username").fill("vera")
    page.get_by_label("Password").fill("quiet-harbour-7")
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("link", name="Failed picture jobs: 1").click()
    page.get_by_role("link", name="Gate").click()
    page.get_by_role("button", name="Requeue", exact=True).click()

    page.get_by_text("Jobs queued again: 1.").wait_for()
    assert page.get_by_role("button", name="Log out").is_visible()


@pytest.mark.long
def test_axe_finds_no_barrier_on_whole_pages(transactional_db, pictures, visit, monkeypatch):
    hide_test_models(monkeypatch)
    busy_night()
    page = log_in(visit("/", reduced_motion="reduce"))
    found = barriers(visit("/admin/login/", reduced_motion="reduce"), "login")
    job = SpotImageJob.objects.filter(status=Status.FAILED).first()
    call = Call.objects.get(state="unknown")

    for address in (
        "/admin/",
        JOBS,
        f"{JOBS}?status__exact=failed",
        f"{JOBS}{job.id}/change/",
        reverse("admin:jobs_call_change", args=[call.pk]),
        reverse("admin:jobs_call_changelist"),
        reverse("admin:guides_guide_change", args=["okinawa-slowly"]),
    ):
        page.goto(address)
        found += barriers(page, address)

    assert found == []


def barriers(page, address):
    page.evaluate("Promise.all(document.getAnimations().map(each => each.finished))")
    report = Axe().run(page).response
    return [
        f"{address}: {each['help']}: {node['html'][:160]}"
        for each in report["violations"]
        for node in each["nodes"][:3]
    ]


@pytest.mark.long
def test_a_phone_shows_rows_of_two_lines(transactional_db, pictures, visit):
    busy_night()
    SpotImageJob.objects.filter(status=Status.QUEUED).update(run_after=Now())
    page = log_in(visit("/", viewport={"width": 390, "height": 844}))
    page.goto(f"{JOBS}?status__exact=queued")

    heights = page.evaluate("[...document.querySelectorAll('.data-row')].map(r => r.offsetHeight)")
    shown = page.locator("#result_list").inner_text()

    assert heights
    assert max(heights) < 110  # of two lines, or three if the name is long
    assert not re.search("select record", shown, re.IGNORECASE)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
