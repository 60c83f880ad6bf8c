"""Making a guide by hand, with scripts and without."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from guides.models import Guide, SpotDetail
from jobs.models import Provider
from jobs.paid import limits
from tests.browser.visitor import needs_chromium, sign_in
from tests.guides.lines import LINES

pytestmark = [needs_chromium, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def author(visit):
    """The empty form, in the browser of a staff user."""

    def author(**options):
        page = visit("/", **options)
        sign_in(page)
        page.goto("/guides/new/")
        return page

    return author


def fill(page, *names):
    page.get_by_label("Title").fill("Kyoto")
    for n, name in enumerate(names):
        if n:
            page.get_by_role("button", name="Add a spot").click()
        page.get_by_label("Name of the spot").nth(n).fill(name)


def save(page):
    page.get_by_role("button", name="Save the guide").click()


def saved():
    return list(SpotDetail.objects.values_list("spot_name", "description"))


def names(page):
    return [field.input_value() for field in page.get_by_label("Name of the spot").all()]


def test_spots_are_added_moved_and_removed(author):
    page = author()
    fill(page, "Gate", "Pond", "Hill")
    page.get_by_label("A sentence about it:").nth(1).fill("Gold,\ntwice.")
    page.get_by_label("Tags, separated by commas:").nth(1).fill("temple、 lake ,")

    page.get_by_role("button", name="Move up").nth(2).click()
    page.get_by_role("button", name="Move down").nth(0).click()
    page.get_by_role("button", name="Remove").nth(1).click()

    assert names(page) == ["Hill", "Pond"]
    page.get_by_label("ink drawing").check()
    save(page)
    page.get_by_role("heading", name="Kyoto").wait_for()
    assert page.locator("[aria-busy=true]").count() == 2
    assert saved() == [("Hill", ""), ("Pond", "Gold, twice.")]
    assert SpotDetail.objects.get(spot_name="Pond").topic_tags == ["lake", "temple"]
    assert Guide.objects.get().picture_style == "ink"
    assert page.get_by_role("link", name="Edit this guide").is_visible()


def test_a_pasted_list_becomes_rows(author):
    page = author()
    page.get_by_role("button", name="Paste a list").click()
    page.get_by_label("One spot per line").fill("\n\n".join(line for line, *_ in LINES))
    page.get_by_role("button", name="Back to the rows").click()

    rows = page.locator(".row").evaluate_all(
        "rows => rows.map(row => [...row.querySelectorAll('input, textarea')].map(it => it.value))"
    )
    assert rows == [spot for _, *spot in LINES]


def test_what_is_pasted_into_a_row_comes_before_it(author):
    page = author()
    page.get_by_label("A sentence about it:").fill("A name will follow.")
    page.get_by_label("Name of the spot").focus()

    paste(page, "• Lake\n• Tower | Tall.")

    assert names(page) == ["Lake", "Tower", ""]
    assert page.get_by_label("A sentence about it:").nth(2).input_value() == "A name will follow."
    assert focused(page) == "Name of the spot: 2"


def paste(page, text):
    page.evaluate(
        """(text) => {
            const data = new DataTransfer();
            data.setData("text", text);
            const how = {clipboardData: data, bubbles: true, cancelable: true};
            document.activeElement.dispatchEvent(new ClipboardEvent("paste", how));
        }""",
        text,
    )


def focused(page):
    return page.evaluate("document.activeElement.getAttribute('aria-label')")


def test_rows_are_made_and_moved_with_the_keyboard(author):
    page = author()
    page.get_by_label("Name of the spot").first.fill("Gate")

    page.keyboard.press("Enter")
    page.keyboard.type("Pond")
    page.keyboard.press("Enter")
    page.keyboard.type("Hill")

    page.get_by_role("button", name="Move up: Hill").press("Enter")
    assert names(page) == ["Gate", "Hill", "Pond"]
    assert focused(page) == "Move up: Hill"
    page.keyboard.press("Enter")
    assert names(page) == ["Hill", "Gate", "Pond"]
    assert focused(page) == "Name of the spot: 1"  # "up" is disabled in the top row
    page.get_by_role("button", name="Remove: Gate").press("Enter")
    assert names(page) == ["Hill", "Pond"]


def test_who_has_to_sign_in_again_loses_nothing(author):
    page = author()
    fill(page, "Gate", "Pond")
    page.get_by_label("ink drawing").check()
    cookies = page.context.cookies()
    page.context.clear_cookies(name="sessionid")
    save(page)
    page.wait_for_url("**/admin/login/**")
    page.context.add_cookies(cookies)

    page.goto("/guides/new/")

    page.get_by_text("Your draft was restored.").wait_for()
    assert names(page) == ["Gate", "Pond"]
    assert page.get_by_label("ink drawing").is_checked()
    save(page)
    page.get_by_role("heading", name="Kyoto").wait_for()
    assert saved() == [("Gate", ""), ("Pond", "")]


def test_going_back_to_save_again_makes_no_second_guide(author):
    page = author()
    fill(page, "Gate")
    page.get_by_role("button", name="Save the guide").dblclick()
    page.get_by_role("heading", name="Kyoto").wait_for()

    page.go_back()
    page.get_by_role("button", name="Add a spot").click()
    page.get_by_label("Name of the spot").nth(1).fill("Pond")
    save(page)
    page.get_by_role("heading", name="Kyoto").wait_for()

    assert Guide.objects.count() == 1
    assert saved() == [("Gate", ""), ("Pond", "")]
    page.goto("/guides/new/")  # for another guide
    assert names(page) == [""]
    assert page.get_by_label("Title").input_value() == ""


def test_the_price_is_known_before_saving(author):
    limits.find("painter")
    Provider.objects.update(price="0.004")
    page = author()

    fill(page, "Gate", "Pond", "Hill")

    page.get_by_text("Pictures: 3 · price: 0.012 USD").wait_for()


RECORD_WAITS = """
    window.waits = [];
    const wait = window.setTimeout;
    window.setTimeout = (call, ms, ...more) => {
        window.waits.push(ms);
        return wait(call, ms, ...more);
    };
"""


def test_pictures_may_come_by_tomorrow_for_half_the_price(author, settings):
    settings.IMAGE_PROVIDER, settings.GEMINI_MODEL = "gemini", "sketch"
    limits.find("gemini:sketch")
    Provider.objects.update(price="0.04")
    page = author()
    prices = page.locator(".choice-price")

    assert prices.all_inner_texts() == ["0.04 USD a picture", "0.02 USD a picture"]
    page.get_by_text("Price of each picture: 0.04 USD").wait_for()
    page.get_by_label("by tomorrow, half the price").check()
    page.get_by_text("Price of each picture: 0.02 USD").wait_for()
    page.get_by_label("now").check()

    fill(page, "Gate", "Pond", "Hill")

    assert prices.all_inner_texts() == ["0.12 USD", "0.06 USD"]
    page.get_by_text("Pictures: 3 · price: 0.12 USD").wait_for()
    page.get_by_label("by tomorrow, half the price").check()
    page.get_by_text("Pictures: 3 · price: 0.06 USD").wait_for()
    assert Axe().run(page).response["violations"] == []
    page.wait_for_function(
        '() => Object.values(sessionStorage).some(it => it.includes(`"picture_strategy":"batch"`))'
    )
    page.reload()  # the draft keeps the choice
    page.get_by_text("Pictures: 3 · price: 0.06 USD").wait_for()
    page.add_init_script(RECORD_WAITS)
    save(page)
    page.get_by_text("Arrives by tomorrow").first.wait_for()
    assert Guide.objects.get().picture_strategy == "batch"
    page.wait_for_function("() => window.waits.some(ms => ms >= 540000)")
    assert page.evaluate("window.waits.filter(ms => 1500 <= ms && ms < 540000)") == []


def test_a_fault_stands_by_its_row_and_nothing_is_lost(author, forgive):
    page = author()
    page.get_by_label("Title").fill("Kyoto")
    page.get_by_role("button", name="Paste a list").click()
    page.get_by_label("One spot per line").fill("A|B\t\n\n\nPond\tGold.\n\n\nPond")

    save(page)

    fault = page.locator(".row").nth(2).locator(".errors")
    fault.wait_for()
    assert fault.inner_text() == "There is a spot 'Pond' already."  # it is row 3, and was line 7
    assert names(page) == ["A|B", "Pond", "Pond"]
    assert focused(page) == "Name of the spot: 3"
    below = "it => parseFloat(getComputedStyle(it).marginBottom)"
    assert page.get_by_role("alert").evaluate(below) > 10  # not over the first label
    assert page.get_by_label("Title").input_value() == "Kyoto"
    assert page.get_by_label("A sentence about it:").nth(1).input_value() == "Gold."
    page.get_by_label("Name of the spot").nth(2).fill("Hill")
    save(page)
    page.get_by_role("heading", name="Kyoto").wait_for()
    assert saved() == [("A|B", ""), ("Pond", "Gold."), ("Hill", "")]
    forgive(page, "Failed to load resource: the server responded with a status of 400")


def test_without_scripts_a_list_is_enough(author):
    page = author(java_script_enabled=False)

    page.get_by_label("Title").fill("Kyoto")
    page.get_by_label("One spot per line").fill("Gate | Red.\nPond")
    save(page)

    page.get_by_role("heading", name="Kyoto").wait_for()
    assert saved() == [("Gate", "Red."), ("Pond", "")]


def test_axe_finds_no_barrier(author, forgive):
    page = author(reduced_motion="reduce")
    fill(page, "Pond", "Pond")
    save(page)
    page.get_by_text("already").wait_for()

    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        report = Axe().run(page).response
        assert [f"{scheme}: {found['help']}" for found in report["violations"]] == []
    for width in (320, 390, 768, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    forgive(page, "Failed to load resource: the server responded with a status of 400")
