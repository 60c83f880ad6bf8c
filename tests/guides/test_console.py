"""Spots, versions and new pictures in the console."""

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from guides.models import Guide, SpotDetail, SpotImage, SpotImageJob
from jobs.models import Status
from tests.guides.conftest import save_guide
from tests.guides.painting import give_up, paint
from tests.jobs.console.pages import EVIL, log_in

pytestmark = pytest.mark.django_db(transaction=True)

JOBS = reverse("admin:guides_spotimagejob_changelist")


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

    assert "Nothing was changed" in told
    assert SpotImageJob.objects.get().status == Status.SUCCEEDED


def test_a_viewer_does_not_ask_for_it(client, forgotten):
    viewer = log_in(client, "viewers")

    assert viewer.post(ask(forgotten)).status_code == 403
    assert viewer.get(ask(forgotten)).status_code == 405
    assert not SpotImageJob.objects.exists()


# Lists


def test_a_job_is_found_by_plan_and_by_any_part_of_its_spot_s_name(operator, pictures):
    save_guide("Golden Pavilion", "Gate")

    def found(term):
        page = operator.get(JOBS, {"q": term})
        return {job.spot_name for job in page.context["cl"].result_list}

    assert found("Golden P") == {"Golden Pavilion"}
    assert found("kyoto") == {"Golden Pavilion", "Gate"}
    assert found("pavilion") == {"Golden Pavilion"}


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


def test_operators_neither_make_nor_delete_guides(operator, painted):
    guide = Guide.objects.get()

    for page in ("add", "delete"):
        address = reverse(f"admin:guides_guide_{page}", args=[guide.pk] if page == "delete" else [])
        assert operator.post(address, {"title": "Mine", "post": "yes"}).status_code == 403


def test_viewers_do_not_edit_guides(viewer, painted):
    guide = Guide.objects.get()

    answer = viewer.post(reverse("admin:guides_guide_change", args=[guide.pk]), {"title": "Mine"})

    assert answer.status_code == 403
    assert Guide.objects.get().title == guide.title


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
        reverse("admin:guides_spotimagejob_new_picture", args=[job.pk]),
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


def test_the_causes_of_pictures_are_words_too(operator, pictures):
    save_guide("Gate")
    give_up("Gate")
    SpotImageJob.objects.update(error_kind="Unpaintable", last_error="It is tagged.")

    page = operator.get(JOBS, {"status__exact": "failed"}).text

    assert "the painter can&#x27;t paint it – It is tagged." in page
    assert "Unpaintable</" not in page
