"""The whole walk: saved, enqueued, claimed by a process, painted, settled, shown, requeued."""

import os
import re

import pytest
from django.contrib.auth.models import User

from guides import services
from guides.makers import UNPAINTABLE
from guides.models import Guide, ImageStatus, SpotDetail, SpotImageJob
from jobs.models import Attempt, Status
from tests.browser.visitor import needs_chromium
from tests.guides.painting import give_up
from tests.jobs import processes
from tests.jobs.conftest import make_due

start = processes.start


@pytest.fixture
def drain(start, pictures, monkeypatch):
    """Let a worker process run all due jobs."""
    monkeypatch.setitem(os.environ, "PICTURES_FOLDER", str(pictures.location))
    monkeypatch.setitem(os.environ, "PAINTER_SECONDS", "0")

    def drain():
        assert start("--drain").exit_code() == 0

    return drain


@pytest.fixture
def guide(drain):
    """A saved guide whose jobs a worker process has run."""
    guide = services.save_guide(
        Guide(plan_id="okinawa", title="Okinawa"),
        [
            SpotDetail(spot_name="Beach", topic_tags=["beach"]),
            SpotDetail(spot_name="Isle in the fog", topic_tags=[UNPAINTABLE]),
        ],
    )
    drain()
    return guide


def test_a_saved_guide_shows_its_picture(guide, client):
    page = client.get("/guides/okinawa/").content.decode()

    [address] = set(re.findall(r"/pictures/[0-9a-f]{64}/1024.webp", page))
    picture = client.get(address)
    assert picture.headers["Content-Type"] == "image/webp"
    assert b"WEBP" in picture.getvalue()[:20]
    [steps] = Attempt.objects.filter(kind="guides.SpotImageJob", outcome="succeeded").values_list(
        "steps", flat=True
    )
    assert set(steps) == {"prompt", "generate", "check", "store"}


@pytest.mark.long
def test_a_spot_that_can_not_be_painted_fails_after_three_attempts(guide, drain):
    for _ in range(2):
        make_due(SpotImageJob.objects.get(spot_name="Isle in the fog"))
        drain()

    job = SpotImageJob.objects.get(spot_name="Isle in the fog")
    assert (job.status, job.attempts) == (Status.FAILED, 3)
    assert "it is tagged unpaintable" in job.last_error
    assert Attempt.objects.filter(job_id=job.id, outcome="failed").count() == 3
    assert SpotDetail.objects.get(spot_name="Isle in the fog").image_status == ImageStatus.FAILED


@needs_chromium
def test_a_failed_picture_appears_after_it_was_requeued_in_the_admin(guide, drain, visit):
    make_due(SpotImageJob.objects.get(spot_name="Isle in the fog"))
    give_up("Isle in the fog")
    page = visit("/guides/okinawa/")
    page.get_by_role("img", name="Picture of Beach").wait_for()
    assert page.get_by_role("img", name="Picture of Isle in the fog").count() == 0
    fog = SpotDetail.objects.get(spot_name="Isle in the fog")
    fog.topic_tags = ["island"]
    fog.save()

    requeue_in_the_admin(visit)
    drain()

    page.reload()
    page.get_by_role("img", name="Picture of Isle in the fog").wait_for()


def requeue_in_the_admin(visit):
    User.objects.create_superuser("operator", password="a word for the operator")
    page = visit("/admin/guides/spotimagejob/?status__exact=failed")
    page.get_by_label("Username").fill("operator")
    page.get_by_label("Password").fill("a word for the operator")
    page.keyboard.press("Enter")
    page.locator("input.action-select").first.check()
    page.locator("select[name=action]").first.select_option("requeue")
    page.get_by_role("button", name="Run").first.click()
    page.get_by_text("Jobs queued again: 1.").wait_for()
