"""Spots, versions and new pictures in the console."""

from decimal import Decimal

import pytest
from django.contrib.admin.models import LogEntry
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from guides.models import Guide, SpotDetail, SpotImage, SpotImageJob
from jobs.models import Provider, Status
from jobs.paid import limits
from tests.guides.conftest import save_guide
from tests.guides.painting import give_up, paint
from tests.jobs.test_console_pages import EVIL, log_in

pytestmark = pytest.mark.django_db(transaction=True)

JOBS = reverse("admin:guides_spotimagejob_changelist")


@pytest.fixture
def operator(client):
    return log_in(client, "operators")


@pytest.fixture
def painted(pictures):
    """A spot with two versions."""
    save_guide("Gate")
    paint("Gate")
    ask_again()
    paint("Gate")
    return SpotDetail.objects.get()


def ask_again():
    from guides import services

    services.request_new_pictures(SpotImageJob.objects.all(), by="mika")


def use(client, spot, version):
    return client.post(reverse("admin:guides_spotdetail_use", args=[spot.pk, version]), follow=True)


def current():
    return SpotImage.objects.get(is_current=True).version


# Versions


def test_versions_stand_side_by_side_with_who_asked(operator, painted):
    page = operator.get(reverse("admin:guides_spotdetail_change", args=[painted.pk])).text

    for part in ("Version 1", "Version 2", "mika", "the guide", "painter", "Use this one"):
        assert part in page, part


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

    assert "A new picture costs about <b>0.0400</b>." in page.text
    assert SpotImageJob.objects.get().status == Status.SUCCEEDED


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
    assert "Left alone" in page.text


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


# A spot whose job was deleted


@pytest.fixture
def forgotten(pictures):
    save_guide("Gate")
    give_up("Gate")
    SpotImageJob.objects.all().delete()
    return SpotDetail.objects.get()


def ask(spot):
    return reverse("admin:guides_spotdetail_ask", args=[spot.pk])


def test_a_spot_without_a_job_offers_to_ask_for_its_picture(operator, forgotten):
    page = reverse("admin:guides_spotdetail_change", args=[forgotten.pk])
    assert ask(forgotten) in operator.get(page).text

    told = operator.post(ask(forgotten), follow=True).text

    assert SpotImageJob.objects.get().status == Status.QUEUED
    assert "A picture of Gate is on its way." in told
    assert LogEntry.objects.get().change_message == "Asked for its picture."
    assert ask(forgotten) not in operator.get(page).text


def test_a_spot_with_a_picture_is_not_painted_again_that_way(operator, painted):
    told = operator.post(ask(painted), follow=True).text

    assert "Left alone" in told
    assert SpotImageJob.objects.get().status == Status.SUCCEEDED


def test_a_viewer_does_not_ask_for_it(client, forgotten):
    viewer = log_in(client, "viewers")

    assert viewer.post(ask(forgotten)).status_code == 403
    assert viewer.get(ask(forgotten)).status_code == 405
    assert not SpotImageJob.objects.exists()


# Lists


def test_a_spot_is_found_by_plan_and_by_the_beginning_of_its_name(operator, pictures):
    save_guide("Golden Pavilion", "Gate")

    def found(term):
        page = operator.get(JOBS, {"q": term})
        return {job.spot_name for job in page.context["cl"].result_list}

    assert found("Golden P") == {"Golden Pavilion"}
    assert found("kyoto") == {"Golden Pavilion", "Gate"}
    assert found("Pavilion") == set()


def test_the_list_shows_the_picture_of_each_job(operator, painted):
    page = operator.get(JOBS).text

    assert painted.srcset.split()[0] in page


@pytest.mark.parametrize("address", [JOBS, reverse("admin:guides_guide_changelist")])
def test_a_list_needs_as_many_queries_for_many_as_for_few(operator, pictures, address):
    save_guide("a", "b")
    operator.get(address)
    with CaptureQueriesContext(connection) as few:
        operator.get(address)
    for number in range(8):
        save_guide("a", "b", plan_id=f"plan-{number}")

    with CaptureQueriesContext(connection) as many:
        operator.get(address)

    assert len(many) == len(few)


def test_a_guide_shows_its_progress_and_its_gallery(operator, painted):
    guide = Guide.objects.get()

    listed = operator.get(reverse("admin:guides_guide_changelist")).text
    page = operator.get(reverse("admin:guides_guide_change", args=[guide.pk])).text

    assert "1 / 1" in listed
    assert '<span class="tc-quiet">1 / 1</span>' in page
    assert "2 versions" in page


def test_the_gallery_is_in_the_order_of_the_guide(operator, pictures):
    save_guide(*"dacb")

    page = operator.get(reverse("admin:guides_guide_change", args=["kyoto"]))

    assert [spot.spot_name for spot in page.context["gallery"]] == list("dacb")


def test_operators_do_not_edit_guides(operator, painted):
    guide = Guide.objects.get()

    answer = operator.post(reverse("admin:guides_guide_change", args=[guide.pk]), {"title": "Mine"})

    assert answer.status_code == 403
    assert Guide.objects.get().title == "Kyoto"


def test_no_text_of_a_guide_becomes_part_of_a_page(admin_client, pictures):
    save_guide(EVIL)
    Guide.objects.update(title=EVIL, destination=EVIL, summary=EVIL)
    paint(EVIL)
    give_up(EVIL)
    SpotDetail.objects.update(description=EVIL, topic_tags=[EVIL])
    SpotImage.objects.update(prompt=EVIL, provider=EVIL, model=EVIL, asked_by=EVIL)
    job, spot = SpotImageJob.objects.get(), SpotDetail.objects.get()

    for page in (
        JOBS,
        f"{JOBS}{job.pk}/change/",
        new_picture(job),
        reverse("admin:guides_guide_changelist"),
        reverse("admin:guides_guide_change", args=["kyoto"]),
        reverse("admin:guides_spotdetail_changelist"),
        reverse("admin:guides_spotdetail_change", args=[spot.pk]),
        reverse("admin:guides_spotimage_changelist"),
        reverse("admin:guides_spotimage_change", args=[SpotImage.objects.get().pk]),
        reverse("admin:index"),
    ):
        answer = admin_client.get(page)
        assert answer.status_code == 200, page
        assert "<script>alert(1)" not in answer.text, page
        assert "<img src=x" not in answer.text, page


@pytest.mark.parametrize("page", ["guides/guide", "guides/spotdetail", "jobs/provider"])
def test_a_key_that_no_row_can_have_is_simply_not_found(admin_client, page):
    response = admin_client.get(f"/admin/{page}/a%00b/change/")

    assert response.status_code == 302  # to the index, as Django does for any unknown key
