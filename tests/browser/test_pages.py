import pytest
from axe_playwright_python.sync_playwright import Axe

from guides import services
from guides.models import Guide, SpotDetail
from jobs.models import Provider
from tests.browser.visitor import WATCH_FOR_MOVES, needs_chromium
from tests.guides.painting import give_up, paint, paint_alike

pytestmark = needs_chromium


@pytest.fixture
def guide(transactional_db, pictures):
    return services.save_guide(
        Guide(plan_id="kyoto", title="Kyoto", destination="Japan", summary="Gates and ponds."),
        [
            SpotDetail(
                spot_name="Gate", description="Ten thousand of them.", topic_tags=["shrine"]
            ),
            SpotDetail(spot_name="池", description="Gold, twice.", topic_tags=["temple"]),
            SpotDetail(spot_name="Fog", description="Nobody has ever seen it."),
        ],
    )


def test_loading_turns_into_a_picture_without_a_reload(guide, visit):
    page = visit("/guides/kyoto/", reduced_motion="no-preference")
    page.evaluate("window.same = true")
    page.evaluate(WATCH_FOR_MOVES)
    assert page.locator("[aria-busy=true]").count() == 3

    paint("Gate")

    picture = page.get_by_role("img", name="Picture of Gate")
    picture.wait_for()
    page.wait_for_function("() => document.querySelector('img.painted').naturalWidth > 0")
    assert page.get_by_role("status").inner_text() == "1 of 3 pictures ready"
    assert page.locator("[aria-busy=true]").count() == 2
    assert page.evaluate("window.same")
    assert page.evaluate("window.moved") == 0


@pytest.mark.long
def test_a_failed_picture_is_shown_and_the_page_stops_asking(guide, visit):
    page = visit("/guides/kyoto/")
    paint_alike("Gate", "池")
    give_up("Fog")

    page.get_by_text("This picture didn’t work out").wait_for()

    page.wait_for_function("() => !document.querySelector('#progress').hasAttribute('hx-get')")
    page.evaluate(
        "window.asked = 0; document.addEventListener('htmx:beforeRequest', () => window.asked++)"
    )
    page.evaluate("new Promise(done => setTimeout(done, 2_500))")  # by the page's own timers
    assert page.evaluate("window.asked") == 0
    assert page.locator("[aria-busy=true]").count() == 0


@pytest.mark.long
def test_home_gets_its_covers_without_a_reload(guide, visit):
    page = visit("/")
    page.evaluate("window.same = true")

    paint("池")
    page.get_by_role("img", name="Picture of 池").wait_for()
    paint("Gate")
    give_up("Fog")

    page.get_by_text("2 of 3 spots have a picture").wait_for()
    page.wait_for_function("() => !document.querySelector('#poller').hasAttribute('hx-get')")
    assert page.evaluate("window.same")


@pytest.mark.long
def test_home_leaves_the_keyboards_focus_where_it_is(guide, visit):
    page = visit("/")
    link = page.get_by_role("link", name="Kyoto")
    link.focus()

    paint("池")
    page.get_by_role("img", name="Picture of 池").wait_for()

    assert page.evaluate("document.activeElement.textContent") == "Kyoto"


def test_without_javascript_a_reload_shows_the_progress(guide, visit):
    page = visit("/guides/kyoto/", java_script_enabled=False)
    paint("Gate")

    page.get_by_role("link", name="Reload the page to see them.").click()

    page.get_by_role("img", name="Picture of Gate").wait_for()


@pytest.mark.parametrize("path", ["/", "/guides/kyoto/"])
def test_axe_finds_no_barrier(guide, visit, path):
    paint("Gate")
    give_up("Fog")
    page = visit(path, reduced_motion="reduce")

    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        report = Axe().run(page).response
        assert [f"{scheme}: {found['help']}" for found in report["violations"]] == []


@pytest.mark.parametrize("path", ["/", "/guides/kyoto/"])
def test_no_page_is_wider_than_its_window(guide, visit, path):
    page = visit(path)

    for width in (320, 390, 768, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_long_list_of_spots_leaves_no_void_beside_it(transactional_db, visit):
    long = "A very long name of a spot that needs two lines in its column of the list"
    spots = [SpotDetail(spot_name=f"{long} {n}") for n in range(30)]
    services.save_guide(Guide(plan_id="kyoto", title="Kyoto"), spots)

    page = visit("/guides/kyoto/", viewport={"width": 1280, "height": 900})

    title, words, contents = (
        page.locator(selector).bounding_box() for selector in ("h1", ".hero-words", ".contents")
    )
    assert title["y"] < 200
    assert contents["y"] - (words["y"] + words["height"]) < 60
    number = "a => parseFloat(getComputedStyle(a, '::before').width)"
    assert page.locator(".contents li:nth-child(11) a").evaluate(number) > 14  # both digits of "11"


def test_on_a_phone_the_rest_of_the_time_has_a_line_of_its_own(guide, visit):
    Provider.objects.update_or_create(name="painter", defaults={"paused": True})
    page = visit("/guides/kyoto/", viewport={"width": 390, "height": 800})

    words = page.locator(".progress-left")

    assert words.inner_text() == "painting is paused for now"
    assert words.evaluate("it => it.scrollWidth <= it.clientWidth")
    height = words.bounding_box()["height"]
    words.evaluate("it => it.textContent = ''")
    assert words.bounding_box()["height"] == height
