"""The Content-Security-Policy in a real browser: pages keep to it, injected scripts are blocked."""

import pytest
from django.urls import reverse

from guides import services
from guides.models import Guide, SpotDetail
from tests.browser.visitor import needs_chromium, sign_in
from tests.guides.painting import paint

pytestmark = needs_chromium


@pytest.fixture
def guide(transactional_db, pictures):
    guide = services.save_guide(
        Guide(plan_id="kyoto", title="Kyoto"),
        [SpotDetail(spot_name="Gate"), SpotDetail(spot_name="Pond")],
    )
    paint("Gate")
    return guide


@pytest.mark.long
def test_no_page_of_the_admin_breaks_its_policy(guide, visit):
    page = visit("/")  # violations appear in the browser's console; `visit` fails on them
    sign_in(page)

    for name in (
        "index",
        "guides_guide_changelist",
        "guides_guide_add",
        "guides_spotimagejob_changelist",
    ):
        page.goto(reverse(f"admin:{name}"))
        page.wait_for_load_state("networkidle")
    page.goto(reverse("admin:guides_guide_change", args=["kyoto"]))
    page.wait_for_function("() => document.querySelector('img[src*=pictures]').naturalWidth > 0")


def test_an_intruder_runs_nothing(guide, visit, forgive):
    page = visit("/guides/kyoto/")

    page.evaluate(
        """() => {
            const script = document.createElement("script");
            script.textContent = "window.intruded = true";
            document.body.append(script);
            document.querySelector("h1").setAttribute("onclick", "window.intruded = true");
            document.querySelector("h1").click();
        }"""
    )

    assert page.evaluate("window.intruded") is None
    forgive(page, "Content Security Policy")
