"""Versions of a picture and new pictures, in the console."""

import re
from decimal import Decimal

import pytest
from django.contrib.admin.models import LogEntry
from django.db import OperationalError
from django.urls import reverse
from django.utils import timezone

from guides.models import Guide, SpotDetail, SpotImage, SpotImageJob
from jobs.models import Provider, Status
from jobs.paid import limits
from tests.guides.batches import have_provider
from tests.guides.conftest import save_guide
from tests.jobs.console.pages import log_in

pytestmark = pytest.mark.django_db(transaction=True)

JOBS = reverse("admin:guides_spotimagejob_changelist")


def use(client, spot, version):
    return client.post(reverse("admin:guides_spotdetail_use", args=[spot.pk, version]), follow=True)


def current():
    return SpotImage.objects.get(is_current=True).version


# Versions


def test_versions_stand_side_by_side_with_who_asked(operator, painted):
    page = operator.get(reverse("admin:guides_spotdetail_change", args=[painted.pk])).text

    for part in ("Version 1", "Version 2", "mika", "the guide", "painter", "Use this one"):
        assert part in page, part


def test_seconds_that_nobody_knows_are_not_shown(operator, painted):
    """A picture that came by batch has none."""
    addresses = [
        reverse("admin:guides_spotdetail_change", args=[painted.pk]),
        reverse("admin:guides_spotimage_changelist"),
    ]
    SpotImage.objects.update(seconds=12.5)
    assert all("12.5" in operator.get(address).text for address in addresses)

    SpotImage.objects.update(seconds=0)

    spot, versions = (operator.get(address).text for address in addresses)
    assert "<dt>seconds</dt>" not in spot
    assert "0.0" not in re.sub("0.00 USD", "", versions[versions.index("<table") :])


def test_an_older_version_is_used_again(operator, painted):
    assert current() == 2

    page = use(operator, painted, 1)

    assert current() == 1
    assert "shows version 1 now" in page.text
    assert LogEntry.objects.get().change_message == "Shows version 1 again."


def test_a_version_that_does_not_exist_is_not_found(operator, painted):
    assert use(operator, painted, 7).status_code == 404
    assert current() == 2


def test_a_version_of_another_spot_is_not_used(operator, painted):
    save_guide("Pond", plan_id="nara")
    other = SpotDetail.objects.get(spot_name="Pond")

    assert use(operator, other, 1).status_code == 404
    assert current() == 2


def test_a_viewer_chooses_no_version(client, painted):
    viewer = log_in(client, "viewers")

    assert use(viewer, painted, 1).status_code == 403
    assert (
        operator_url(painted)
        not in viewer.get(reverse("admin:guides_spotdetail_change", args=[painted.pk])).text
    )
    assert current() == 2


def operator_url(spot):
    return reverse("admin:guides_spotdetail_use", args=[spot.pk, 1])


def test_no_version_is_used_by_get(operator, painted):
    assert operator.get(operator_url(painted)).status_code == 405


# A new picture


def new_picture(job):
    return reverse("admin:guides_spotimagejob_new_picture", args=[job.pk])


def test_a_new_picture_names_its_price_before_it_is_asked_for(operator, painted):
    limits.find("painter")
    Provider.objects.update(price=Decimal("0.04"))
    job = SpotImageJob.objects.get()

    page = operator.get(new_picture(job))

    assert "A new picture costs about <b>0.04 USD</b>." in page.text
    assert "left of today" not in page.text  # there is no budget
    Provider.objects.update(daily_budget=5)
    assert "5.00 USD is left of today's budget." in operator.get(new_picture(job)).text
    assert SpotImageJob.objects.get().status == Status.SUCCEEDED


def test_a_new_picture_by_batch_names_the_batch_price_and_tomorrow(operator, painted, settings):
    have_provider(settings, daily_budget="0.03")
    Guide.objects.update(picture_strategy="batch")
    job = SpotImageJob.objects.get()

    before, after = operator.get(new_picture(job)), operator.post(new_picture(job), follow=True)

    assert "costs about <b>0.02 USD</b> in a batch, and arrives by tomorrow." in before.text
    assert "0.03 USD is left of today's budget." in before.text
    assert "Only" not in before.text
    assert "A new picture of Gate arrives by tomorrow" in after.text


@pytest.mark.parametrize(("spent", "left"), [("4.97", "0.03"), ("5.12", "0.00")])
def test_a_new_picture_that_the_budget_does_not_cover_waits(operator, painted, spent, left):
    limits.find("painter")
    Provider.objects.update(
        price=Decimal("0.04"), daily_budget=5, spent=Decimal(spent), spent_on=timezone.localdate()
    )

    page = operator.get(new_picture(SpotImageJob.objects.get())).text

    assert f"Only {left} USD is left of today's budget." in page


def test_a_new_picture_is_asked_for_by_name(operator, painted):
    job = SpotImageJob.objects.get()

    page = operator.post(new_picture(job), follow=True)

    job.refresh_from_db()
    assert (job.status, job.generation, job.asked_by) == (Status.QUEUED, 2, "operators")
    assert "is on its way" in page.text
    assert LogEntry.objects.get().change_message == "Asked for a new picture."


def test_a_picture_that_is_on_its_way_is_left_alone(operator, pictures):
    save_guide("Gate")
    job = SpotImageJob.objects.get()

    page = operator.post(new_picture(job), follow=True)

    assert SpotImageJob.objects.get().generation == 0
    assert "Nothing was changed" in page.text


def test_a_viewer_asks_for_no_picture(client, painted):
    viewer = log_in(client, "viewers")
    job = SpotImageJob.objects.get()

    assert viewer.get(new_picture(job)).status_code == 403
    assert viewer.post(new_picture(job)).status_code == 403
    assert SpotImageJob.objects.get().status == Status.SUCCEEDED


def test_a_success_is_not_run_again_by_any_other_button(operator, painted):
    job = SpotImageJob.objects.get()

    page = operator.get(f"{JOBS}{job.pk}/change/").text

    assert "/act/rerun/" not in page
    assert operator.post(f"{JOBS}{job.pk}/act/rerun/").status_code == 404


def test_a_price_that_nobody_has_set_is_not_called_nothing(operator, painted, monkeypatch):
    monkeypatch.setattr(SpotImageJob, "provider_name", classmethod(lambda cls: "gemini:flash"))
    monkeypatch.setattr(SpotImageJob, "provider_is_free", classmethod(lambda cls: False))

    page = operator.get(new_picture(SpotImageJob.objects.get())).text

    assert "The price of gemini:flash is not set" in page
    assert "costs nothing" not in page


def test_what_can_not_be_written_down_is_not_done(operator, painted, monkeypatch):
    def fail(*args):
        raise OperationalError("no space left")

    monkeypatch.setattr("jobs.console.audit.note", fail)
    job = SpotImageJob.objects.get()

    with pytest.raises(OperationalError):
        operator.post(new_picture(job))
    with pytest.raises(OperationalError):
        use(operator, painted, 1)

    assert current() == 2
    assert SpotImageJob.objects.get().status == Status.SUCCEEDED
