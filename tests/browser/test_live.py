"""An open page: it polls at the pace of the pictures, and always shows the truth."""

import os

import pytest

from guides import services
from guides.models import Guide, SpotDetail, SpotImageJob
from jobs import queue
from jobs.errors import LeaseLost
from jobs.models import Attempt, Outcome, Status
from jobs.paid import pausing
from jobs.queue.outcomes import End
from tests.browser.visitor import HURRY, WATCH_FOR_MOVES, needs_chromium
from tests.guides.painting import claim, give_up, paint, paint_alike
from tests.jobs import processes
from tests.jobs.processes import wait_until

pytestmark = needs_chromium
start = processes.start

NAMES = [f"Spot {n}" for n in range(10)]
CLAIMED = """() => ({
    shown: [...document.querySelectorAll("img.painted")].map(each => each.getAttribute("src")),
    awaited: document.querySelectorAll("[aria-busy=true]").length,
    words: document.querySelector("#progress-count").innerText,
})"""
HIDE = """hidden => {
    Object.defineProperty(document, "hidden", {value: hidden, configurable: true});
    document.dispatchEvent(new Event("visibilitychange"));
}"""


@pytest.fixture
def guide(transactional_db, pictures):
    return services.save_guide(
        Guide(plan_id="kyoto", title="Kyoto", destination="Japan"),
        [SpotDetail(spot_name=name, description=f"All about {name}.") for name in NAMES],
    )


@pytest.fixture
def hurry(visit):
    """Open a page whose timers run fast."""

    def hurry(path="/guides/kyoto/", **options):
        page = visit("about:blank", **options)
        page.add_init_script(HURRY)
        page.goto(path)
        return page

    return hurry


def waits(page, count):
    page.wait_for_function(f"() => window.waits.length >= {count}")
    return page.evaluate("window.waits")


def test_ten_pictures_arrive_and_move_nothing(guide, hurry):
    page = hurry(reduced_motion="no-preference")  # animations must move nothing either
    page.evaluate("window.same = true")
    page.evaluate(WATCH_FOR_MOVES)
    bar = page.locator("progress")
    assert bar.evaluate("bar => [bar.value, bar.max]") == [0, 10]

    for ready in (1, 3, 6, 10):
        paint_alike(*NAMES[:ready])  # earlier ones are painted already
        arrived = f"() => document.querySelectorAll('img.painted').length === {ready}"
        page.wait_for_function(arrived)
        assert bar.evaluate("bar => bar.value") == ready

    assert page.get_by_role("status").inner_text() == "10 pictures"
    assert page.locator("[aria-busy=true]").count() == 0
    page.locator(".progress-going").wait_for(state="detached")  # htmx settles classes a bit later
    assert page.evaluate("window.same")
    assert page.evaluate("window.moved") == 0


@pytest.mark.long
def test_a_page_asks_seldom_while_nothing_changes_and_soon_when_something_does(guide, hurry):
    page = hurry()

    quiet = waits(page, 8)
    paint("Spot 0")
    page.get_by_role("img", name="Picture of Spot 0").wait_for()
    page.wait_for_function("() => window.waits.slice(8).some(ms => ms < 2500)")

    assert quiet[0] < 2_500
    assert quiet[5] > 2.5 * quiet[0]
    assert max(quiet) < 17_000


@pytest.mark.long
def test_a_hidden_page_asks_nothing_and_looks_at_once_when_it_is_back(guide, hurry):
    page = hurry()
    waits(page, 2)

    page.evaluate(HIDE, True)
    asked = page.evaluate("window.asked")
    page.evaluate("new Promise(done => setTimeout(done, 30_000))")  # of the page's time
    assert page.evaluate("window.asked") == asked > 0

    paint("Spot 0")
    page.evaluate(HIDE, False)
    page.get_by_role("img", name="Picture of Spot 0").wait_for()


@pytest.mark.long
def test_a_page_goes_on_when_the_server_is_back(guide, hurry, forgive):
    page = hurry()
    waits(page, 1)

    page.route("**/images/**", lambda route: route.abort())
    asked = page.evaluate("window.asked")
    page.wait_for_function(f"() => window.asked >= {asked + 3}")
    page.unroute("**/images/**")
    page.route("**/images/**", lambda route: route.fulfill(status=502, body="restarting"), times=2)
    paint("Spot 0")

    page.get_by_role("img", name="Picture of Spot 0").wait_for()
    assert max(page.evaluate("window.waits")) < 34_000
    forgive(page, "Failed to load resource", "Response Status Error Code 502", "htmx:")


def test_a_page_says_what_is_known_of_a_pause(guide, visit):
    pausing.pause("painter", "out of blue")

    page = visit("/guides/kyoto/")

    page.get_by_text("painting is paused for now").wait_for()


@pytest.mark.long
def test_a_worker_is_killed_and_the_page_never_lies(guide, start, hurry, monkeypatch, pictures):
    monkeypatch.setitem(os.environ, "PICTURES_FOLDER", str(pictures.location))
    monkeypatch.setitem(os.environ, "ANSWERS_FOLDER", f"{pictures.location}/answers")
    monkeypatch.setitem(os.environ, "PAINTER_SECONDS", "3600")
    guide.spots.filter(spot_name__in=NAMES[4:]).delete()  # four spots are enough
    paint("Spot 0")
    queue.settle([End(job, Outcome.RELEASED, error=LeaseLost("")) for job in claim(NAMES)])
    page = hurry()
    page.locator("img.painted").first.wait_for()
    first = start("--jobs", "guides.SpotImageJob", slots=2)
    wait_until(lambda: SpotImageJob.objects.filter(status=Status.PROCESSING).count() == 2)

    first.kill()
    first.expire(SpotImageJob)

    assert look_for_lies(page) == (1, 3)
    monkeypatch.setitem(os.environ, "PAINTER_SECONDS", "0")
    start("--jobs", "guides.SpotImageJob", slots=4)
    awaited = 3
    while awaited:
        page.wait_for_timeout(100)
        shown, awaited = look_for_lies(page)
    assert (shown, SpotDetail.objects.exclude(image_url="").count()) == (4, 4)
    assert Attempt.objects.filter(outcome="lost").count() == 2
    assert Attempt.objects.filter(outcome="succeeded").count() == 4


def look_for_lies(page):
    """Count shown and awaited pictures, and check the page against the database."""
    seen = page.evaluate(CLAIMED)
    # Read the database after the page: it may know more pictures than the page, never fewer.
    painted = set(SpotDetail.objects.exclude(image_url="").values_list("image_url", flat=True))
    assert set(seen["shown"]) <= painted
    assert seen["words"] == f"{len(seen['shown'])} of 4 pictures ready" or seen["awaited"] == 0
    assert len(seen["shown"]) + seen["awaited"] == 4
    return len(seen["shown"]), seen["awaited"]


def test_the_first_look_weighs_less_than_100_kilobytes(guide, visit):
    page = visit("about:blank")
    answers = []
    page.on("response", lambda answer: answers.append(answer))
    page.goto("/guides/kyoto/")
    page.wait_for_load_state("networkidle")

    weight = sum(len(answer.body()) for answer in answers if "/images/" not in answer.url)

    assert weight < 100_000


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_progress_can_be_seen_on_a_phone(guide, visit, scheme):
    paint("Spot 0")
    give_up("Spot 1")
    page = visit("/guides/kyoto/", viewport={"width": 360, "height": 740}, color_scheme=scheme)

    assert page.get_by_text("1 of 10 pictures ready").first.is_visible()
    box = page.locator("progress").bounding_box()
    assert 200 < box["width"] <= 360
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
