"""Makes docs/images/*.png, by `make screenshots`; not collected with the tests."""

import io
from pathlib import Path

from django.urls import reverse
from PIL import Image

from guides import demo
from guides.models import SpotDetail
from tests.browser.console import hide_test_models
from tests.browser.visitor import sign_in
from tests.guides.history import have_worker, remember
from tests.guides.painting import give_up, paint

FOLDER = Path(__file__).parents[2] / "docs" / "images"
DESKTOP = {"width": 1280, "height": 960}
TALL = {"width": 1280, "height": 1200}
PHONE = {"width": 390, "height": 844}
UNPAINTED = "The Isle in the Fog"


def test_screenshots(visit, transactional_db, pictures, monkeypatch):
    hide_test_models(monkeypatch)
    demo.load()
    everything = set(SpotDetail.objects.values_list("spot_name", flat=True))
    alps = set(SpotDetail.objects.filter(guide="alps-by-train").values_list("spot_name", flat=True))
    desktop = {"viewport": DESKTOP, "reduced_motion": "no-preference"}
    shoot(visit("/guides/kyoto-in-two-days/", **desktop), "guide-loading")
    remember(5, seconds=14)
    have_worker(slots=8)
    paint("Fushimi Inari Shrine", "Kinkaku-ji")
    shoot(visit("/guides/kyoto-in-two-days/", **desktop), "guide-arriving")
    phone = {**desktop, "viewport": PHONE, "color_scheme": "dark"}
    shoot(visit("/guides/kyoto-in-two-days/", **phone), "guide-arriving-phone-dark")
    new = as_operator(visit("/", viewport={"width": 1280, "height": 1560}), "new_guide")
    shoot(made_by_hand(new), "new-guide")
    new.set_viewport_size(PHONE)
    new.emulate_media(color_scheme="dark")
    shoot(new, "new-guide-phone-dark", at=".rows")
    give_up(UNPAINTED)
    paint(*everything - alps - {UNPAINTED})
    shoot(visit("/", viewport=TALL), "home")
    shoot(visit("/", viewport=TALL, color_scheme="dark"), "home-dark")
    shoot(visit("/guides/kyoto-in-two-days/", viewport=TALL), "guide-ready")
    shoot(visit("/guides/okinawa-slowly/", viewport=DESKTOP), "guide-failed", at=".picture-failed")
    japanese = {"viewport": PHONE, "locale": "ja"}
    shoot(visit("/guides/hiroshima-to-miyajima/", **japanese), "guide-phone")
    shoot(
        visit("/guides/hiroshima-to-miyajima/", **japanese, color_scheme="dark"), "guide-phone-dark"
    )
    shoot(as_operator(visit("/", viewport=DESKTOP)), "admin-jobs")


def as_operator(page, name="admin:guides_spotimagejob_changelist"):
    """A page with an operator logged in."""
    sign_in(page, name)
    page.goto(reverse(name))
    return page


def made_by_hand(page):
    page.get_by_label("Title").fill("Kamakura in a day")
    page.get_by_label("Destination").fill("Kamakura, Japan")
    page.get_by_role("button", name="Paste a list").click()
    page.get_by_label("One spot per line").fill(
        "Great Buddha | Bronze, calm, and older than the sea wall. #temple\n"
        "Hase-dera | Hydrangeas in June, the bay all year. #temple #garden\n"
        "Komachi Street | Rice crackers, still warm. #market"
    )
    page.get_by_role("button", name="Back to the rows").click()
    return page


def shoot(page, name, at=None):
    """Photograph what the window shows, or the window with this element in the middle."""
    if at:
        page.locator(at).evaluate(
            "element => element.scrollIntoView({block: 'center', behavior: 'instant'})"
        )
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(700)  # a picture takes a moment to appear
    FOLDER.mkdir(exist_ok=True)
    shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    palette = shot.quantize(256, kmeans=3)  # small files, and the seal stays red
    shot.quantize(palette=palette).save(FOLDER / f"{name}.png", optimize=True)
