"""One form, and a guide is written, translated and painted while its page is open."""

import os
import re

import pytest

from guides.derived.models import Commission
from guides.models import Guide, SpotDetail, SpotImageJob
from guides.translation.following import TranslateGuide
from guides.translation.models import GuideTranslation, KeepTranslations
from guides.writing.keepers import KeepOutline, KeepTexts
from guides.writing.models import Manuscript, State
from jobs.llm.models import LLMJob
from jobs.models import Attempt, Call
from tests.browser.visitor import HURRY, needs_chromium, sign_in
from tests.jobs.batches.offices import has_reached
from tests.jobs.conftest import make_due
from tests.jobs.processes import start, wait_until

__all__ = ["start"]  # a fixture
pytestmark = needs_chromium

SPOTS = 10
HALF = 5
WRITERS = ["--jobs", "jobs.LLMJob", "guides.KeepOutline", "guides.KeepTexts"]
# All that a guide needs. Topics and weeks would ask for texts of their own.
ALL = [
    *WRITERS,
    "jobs.EventJob",
    "guides.TranslateGuide",
    "guides.KeepTranslations",
    "guides.SpotImageJob",
]
# The outline and half of the texts are asked for; the others wait at the worker's gate.
HELD = f"""
import django; django.setup()
import os, pathlib
import jobs.paid.ledger
from tests.testapp.models import wait_at_gate
calls, begin = [], jobs.paid.ledger.begin
def held(*arguments, **options):
    calls.append(1)
    if len(calls) > 1 + {HALF}:
        pathlib.Path(os.environ["GATE"] + ".reached").touch()
        wait_at_gate(0)
    return begin(*arguments, **options)
jobs.paid.ledger.begin = held
"""
# Painting in a process of its own is as coarse as in the tests' own.
COARSE = """
import django; django.setup()
import sys, guides.painter
for name, module in list(sys.modules.items()):
    if name.startswith("guides.painter") and hasattr(module, "FINE"):
        module.FINE = 1
"""
# All that a page has said, also before it reloaded itself.
REMEMBER = """
    const said = JSON.parse(sessionStorage.said || "[]");
    const look = () => {
        for (const id of ["writing-count", "progress-count"]) {
            const words = document.getElementById(id)?.innerText;
            if (words && said.at(-1) !== words) said.push(words);
        }
        sessionStorage.said = JSON.stringify(said);
    };
    document.addEventListener("DOMContentLoaded", look);
    document.addEventListener("htmx:afterSettle", look);
"""
PHONE = {"width": 360, "height": 740}
LOADED = """() => {
    const all = [...document.querySelectorAll("img.painted")];
    all.forEach(each => each.loading = "eager");
    return all.length && all.every(each => each.complete && each.naturalWidth);
}"""


@pytest.fixture
def workshop(start, pictures, monkeypatch):
    """Start worker processes of a site that translates by itself."""
    for name, value in {
        "PICTURES_FOLDER": str(pictures.location),
        "ANSWERS_FOLDER": f"{pictures.location}/answers",
        "PAINTER_SECONDS": "0",
        "TRANSLATE_GUIDES": "true",
    }.items():
        monkeypatch.setitem(os.environ, name, value)
    return start


@pytest.fixture
def author(visit):
    """The form of a guide to be written, in the browser of a staff user."""
    page = visit("/")
    sign_in(page)
    page.add_init_script(HURRY)
    page.add_init_script(REMEMBER)
    page.goto("/guides/new/?write")
    return page


def ask_for_kyoto(page):
    page.get_by_label("Destination").fill("Kyoto")
    page.get_by_label("Spots", exact=True).fill(str(SPOTS))
    page.get_by_label("Language").select_option("en")
    page.get_by_role("button", name="Let it be written").click()


def kill(worker):
    worker.kill()
    for model in (LLMJob, KeepOutline, KeepTexts):
        worker.expire(model)


def is_translated():
    """Whether each text of the finished guide has its translation; none waits for its time."""
    if not Manuscript.objects.filter(state=State.DONE).exists():
        return False
    for job in TranslateGuide.objects.filter(status="queued"):
        make_due(job)
    under_way = [model.objects.living().exists() for model in (TranslateGuide, KeepTranslations)]
    spoken = GuideTranslation.objects.filter(language="ja").exclude(text="")
    keys = {f"spot:{pk}:description" for pk in SpotDetail.objects.values_list("pk", flat=True)}
    return not any(under_way) and keys <= set(spoken.values_list("key", flat=True))


@pytest.mark.long
def test_a_guide_is_written_translated_and_painted_from_one_form(author, workshop, visit):
    page = author
    ask_for_kyoto(page)
    page.locator("#writing-count", has_text="Being written: first the outline").wait_for()

    first = workshop(*WRITERS, before=HELD, gate=True)
    wait_until(lambda: has_reached(first))
    page.locator("#writing-count", has_text=f"Being written: {HALF} of {SPOTS} texts").wait_for()
    assert page.locator(".coming li").count() == SPOTS
    kill(first)
    assert SpotDetail.objects.count() == 0

    workshop(*ALL, before=COARSE)
    # Not "9 of 10 pictures".
    page.locator("#progress-count", has_text=re.compile(rf"^\s*{SPOTS} pictures\s*$")).wait_for()
    wait_until(is_translated)
    wait_until(lambda: not LLMJob.objects.exists())

    assert_all_there_once()
    assert_told_in_order(page)
    [guide] = Guide.objects.all()
    assert_complete(page, guide.title)
    assert_japanese(visit(guide.get_absolute_url(), locale="ja"))
    assert_complete_on_a_dark_phone(visit, guide)
    assert_complete_without_scripts(visit, guide)


def assert_all_there_once():
    """Ten spots and ten pictures; no answer was bought twice, and none was lost."""
    assert SpotDetail.objects.exclude(description="").exclude(image_url="").count() == SPOTS
    assert SpotImageJob.objects.filter(status="succeeded").count() == SPOTS
    calls = Call.objects.filter(kind="jobs.LLMJob")
    assert set(calls.values_list("state", flat=True)) == {"stored"}
    jobs = list(calls.values_list("job_id", flat=True))
    assert len(jobs) == len(set(jobs))
    asked = Commission.objects.values_list("slice", "requests")
    assert sorted(number for name, number in asked if name == "writing") == [1, SPOTS]
    assert sum(number for _name, number in asked) == len(jobs)
    assert Attempt.objects.filter(outcome="lost").exists()  # the worker was killed at work


def assert_told_in_order(page):
    """The page that nobody reloaded said each step: outline, texts, pictures."""
    said = page.evaluate("JSON.parse(sessionStorage.said)")
    assert said[0] == "Being written: first the outline"
    assert f"Being written: {HALF} of {SPOTS} texts" in said
    assert said[-1] == f"{SPOTS} pictures"
    texts = [n for n, words in enumerate(said) if words.endswith("texts")]
    pictures = [n for n, words in enumerate(said) if "pictures" in words]
    assert 0 < min(texts) <= max(texts) < min(pictures)


def assert_complete(page, title):
    page.get_by_role("heading", name=title, level=1).wait_for()
    page.wait_for_function(LOADED)
    assert page.locator("img.painted").count() == SPOTS
    assert page.locator(".spot-text").count() == SPOTS
    assert page.locator("[aria-busy=true]").count() == 0
    assert page.locator("#writing-count, .coming").count() == 0


def assert_japanese(page):
    texts = page.locator(".spot-text").all_inner_texts()
    spoken = GuideTranslation.objects.filter(language="ja", key__endswith=":description")
    assert [" ".join(text.split()) for text in texts] == [
        " ".join(spoken.get(key=f"spot:{pk}:description").text.split())
        for pk in SpotDetail.objects.order_by("position").values_list("pk", flat=True)
    ]
    assert not set(texts) & set(SpotDetail.objects.values_list("description", flat=True))
    assert page.get_by_role("link", name="原文").count() == 1
    assert_complete(page, page.locator("h1").inner_text())


def assert_complete_on_a_dark_phone(visit, guide):
    page = visit(guide.get_absolute_url(), viewport=PHONE, color_scheme="dark")
    assert_complete(page, guide.title)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    shade = page.evaluate("getComputedStyle(document.body).backgroundColor")
    light = page.evaluate("getComputedStyle(document.body).color")
    assert brightness(shade) < 80 < 170 < brightness(light)


def brightness(colour):
    """Of rgb(r, g, b)."""
    return sum(map(int, colour.strip("rgba()").split(", ")[:3])) / 3


def assert_complete_without_scripts(visit, guide):
    page = visit(guide.get_absolute_url(), java_script_enabled=False)
    assert page.locator("img.painted").count() == SPOTS
    assert page.locator(".spot-text").count() == SPOTS
    assert page.locator("meta[http-equiv=refresh]").count() == 0
    assert page.locator(".notice").count() == 0  # nothing asks for another look
