"""Makes docs/images/*.png, by `make screenshots`; not collected with the tests."""

import io
from pathlib import Path

from django.conf import settings
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from PIL import Image

from guides import demo
from guides.models import SpotDetail
from tests.guides.painting import give_up, paint
from tests.testapp.models import Chore

FOLDER = Path(__file__).parents[2] / "docs" / "images"
DESKTOP = {"width": 1280, "height": 960}
TALL = {"width": 1280, "height": 1200}
PHONE = {"width": 390, "height": 844}
UNPAINTED = "The Isle in the Fog"


def test_screenshots(visit, transactional_db, pictures, monkeypatch):
    monkeypatch.delitem(admin.site._registry, Chore)  # only the tests know of it
    demo.load()
    everything = set(SpotDetail.objects.values_list("spot_name", flat=True))
    alps = set(SpotDetail.objects.filter(guide="alps-by-train").values_list("spot_name", flat=True))
    shoot(visit("/guides/kyoto-in-two-days/", viewport=DESKTOP), "guide-loading")
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


def as_operator(page):
    """The list of jobs, seen by somebody who may."""
    client = Client()
    client.force_login(User.objects.create_superuser("operator"))
    cookie = {"name": settings.SESSION_COOKIE_NAME, "value": client.cookies["sessionid"].value}
    page.context.add_cookies([{**cookie, "url": page.url}])
    page.goto(reverse("admin:guides_spotimagejob_changelist"))
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
