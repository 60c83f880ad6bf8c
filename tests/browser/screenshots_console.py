"""Makes docs/images/console-*.png, by `make screenshots`; not collected with the tests."""

from django.urls import reverse

from guides import services
from guides.models import SpotDetail, SpotImageJob
from jobs.models import Status
from tests.browser.console import GEMINI, busy_night, give_back, hide_test_models, log_in
from tests.browser.screenshots import PHONE, shoot
from tests.guides.painting import paint

WIDE = {"width": 1440, "height": 1000}
TALL = {"width": 1440, "height": 1500}
LONG = {"width": 390, "height": 1700}


def test_screenshots_of_the_console(visit, transactional_db, pictures, monkeypatch, settings):
    hide_test_models(monkeypatch)
    busy_night(paint)
    page = log_in(visit("/", viewport=TALL))
    twice = SpotImageJob.objects.filter(status=Status.SUCCEEDED).order_by("id").first()
    services.request_new_pictures(SpotImageJob.objects.filter(id=twice.id), by="mika")
    paint(twice.spot_name)
    waiting = SpotImageJob.objects.filter(status=Status.PROCESSING).order_by("id")
    give_back(list(waiting.values_list("spot_name", flat=True))[:4])
    settings.IMAGE_PROVIDER = "gemini"  # so that its row is in use
    failed = SpotImageJob.objects.filter(status=Status.FAILED).order_by("id").first()
    spot = SpotDetail.objects.get(spot_name=twice.spot_name)

    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        shoot_at(page, TALL, "/admin/", f"console-{scheme}")
    page.emulate_media(color_scheme="light")
    jobs = reverse("admin:guides_spotimagejob_changelist")
    shoot_at(page, WIDE, jobs, "console-jobs")
    shoot_at(page, TALL, f"{jobs}{failed.id}/change/", "console-job")
    shoot_at(page, WIDE, f"{jobs}?status__exact=failed", "console-failed")
    page.locator("#action-toggle, .action-toggle").first.check()
    page.locator("select[name=action]").select_option("requeue")
    page.get_by_role("button", name="Run").click()
    shoot(page, "console-preview")
    provider = reverse("admin:jobs_provider_change", args=[GEMINI.replace(":", "_3A")])
    shoot_at(page, WIDE, provider, "console-provider")
    spot_page = reverse("admin:guides_spotdetail_change", args=[spot.pk])
    shoot_at(page, WIDE, spot_page, "console-versions")
    guide = reverse("admin:guides_guide_change", args=[spot.guide_id])
    shoot_at(page, WIDE, guide, "console-guide", at=".tc-gallery")

    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        shoot_at(page, LONG, "/admin/", f"console-phone-{scheme}")
    shoot_at(page, PHONE, f"{jobs}{failed.id}/change/", "console-phone-job")
    shoot_at(page, PHONE, jobs, "console-phone-jobs")
    japanese = log_in(visit("/", viewport=TALL, locale="ja"))
    shoot_at(japanese, TALL, "/admin/", "console-japanese")


def shoot_at(page, size, address, name, at=None):
    page.set_viewport_size(size)
    page.goto(address)
    shoot(page, name, at)
