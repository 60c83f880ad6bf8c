"""The trace id on a job's page in a real browser."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from guides.models import SpotImageJob
from tests.browser.console import hide_test_models, log_in
from tests.browser.visitor import needs_chromium
from tests.guides.conftest import save_guide

pytestmark = needs_chromium


@pytest.fixture
def job(transactional_db, pictures):
    save_guide("Gate")
    return SpotImageJob.objects.get()


def test_the_trace_id_is_copied_by_keyboard_and_leads_to_its_page(job, visit, monkeypatch):
    hide_test_models(monkeypatch)
    page = log_in(visit("/"), "operators")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"/admin/guides/spotimagejob/{job.pk}/change/")
    faults = []
    page.on("console", lambda message: faults.append(message.text))

    page.get_by_role("button", name="Copy").focus()
    page.keyboard.press("Enter")

    page.get_by_text("Copied.").wait_for()
    trace_id = job.pk.hex
    assert page.evaluate("navigator.clipboard.readText()") == trace_id
    page.get_by_role("link", name="All of this trace").click()
    page.get_by_role("link", name="Gate").wait_for()
    assert trace_id in page.url
    assert Axe().run(page).violations_count == 0
    assert faults == []


def test_on_plain_http_it_is_copied_too(job, visit):
    """There the browser has no clipboard for scripts."""
    page = log_in(visit("/"), "operators")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"/admin/guides/spotimagejob/{job.pk}/change/")
    page.evaluate(
        "() => { window.real = navigator.clipboard;"
        " Object.defineProperty(navigator, 'clipboard', { value: undefined }) }"
    )

    page.get_by_role("button", name="Copy").click()

    page.get_by_text("Copied.").wait_for()
    assert page.evaluate("window.real.readText()") == job.pk.hex
    assert page.evaluate("document.activeElement.textContent") == "Copy"
    assert page.evaluate("getSelection().isCollapsed")
