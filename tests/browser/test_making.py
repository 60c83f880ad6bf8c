"""Making a guide by hand, with scripts and without."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from guides.models import Guide, SpotDetail
from jobs import providers
from jobs.models import Provider
from tests.browser.visitor import needs_chromium, sign_in

pytestmark = [needs_chromium, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def author(visit):
    """The empty form, in the browser of somebody who may fill it in."""

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
    page.get_by_label("A sentence about it").nth(1).fill("Gold,\ntwice.")

    page.get_by_role("button", name="Move up").nth(2).click()
    page.get_by_role("button", name="Move down").nth(0).click()
    page.get_by_role("button", name="Remove").nth(1).click()

    assert names(page) == ["Hill", "Pond"]
    page.get_by_label("ink drawing").check()
    save(page)
    page.get_by_role("heading", name="Kyoto").wait_for()
    assert page.locator("[aria-busy=true]").count() == 2
    assert saved() == [("Hill", ""), ("Pond", "Gold, twice.")]
    assert Guide.objects.get().picture_style == "ink"


def test_a_pasted_list_becomes_rows(author):
    page = author()
    page.get_by_role("button", name="Paste a list").click()
    page.get_by_label("One spot per line").fill("1. Gate | Red.\n2. Pond\n\n- Hill\tGreen.")
    page.get_by_role("button", name="Back to the rows").click()

    assert names(page) == ["Gate", "Pond", "- Hill"]

    first = page.get_by_label("Name of the spot").first
    first.focus()
    page.evaluate(
        """() => {
            const data = new DataTransfer();
            data.setData("text", "• Lake\\n• Tower | Tall.");
            const how = {clipboardData: data, bubbles: true, cancelable: true};
            document.activeElement.dispatchEvent(new ClipboardEvent("paste", how));
        }"""
    )

    assert names(page) == ["Lake", "Tower", "Gate", "Pond", "- Hill"]


def test_enter_goes_to_the_next_spot(author):
    page = author()
    page.get_by_label("Name of the spot").first.fill("Gate")

    page.keyboard.press("Enter")
    page.keyboard.type("Pond")

    assert names(page) == ["Gate", "Pond"]


def test_the_price_is_known_before_saving(author):
    providers.find("painter")
    Provider.objects.update(price="0.04")
    page = author()

    fill(page, "Gate", "Pond", "Hill")

    page.get_by_text("Pictures: 3 · price: 0.12").wait_for()


def test_a_fault_stands_by_its_row_and_nothing_is_lost(author, forgive):
    page = author()
    fill(page, "A|B", "Pond", "Pond")
    page.get_by_label("A sentence about it").nth(1).fill("Gold.")

    save(page)

    fault = page.locator(".row").nth(2).get_by_text("There is a spot 'Pond' already.")
    fault.wait_for()
    assert names(page) == ["A|B", "Pond", "Pond"]
    assert page.get_by_label("Title").input_value() == "Kyoto"
    assert page.get_by_label("A sentence about it").nth(1).input_value() == "Gold."
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
