import pytest
from django.urls import reverse
from django.utils.html import escape

from guides import demo
from guides.makers import UNPAINTABLE
from guides.models import Guide, SpotDetail, SpotImageJob
from jobs import queue
from jobs.models import Status
from tests.guides.conftest import save_guide
from tests.guides.forms import form, save
from tests.guides.painting import give_up, paint

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("tags", ["", " , ", "[]"])
def test_tags_can_be_emptied(admin_client, tags):
    guide = save_guide("Gate")
    SpotDetail.objects.update(topic_tags=["shrine"])

    assert save(admin_client, guide, topic_tags=tags).status_code == 302
    assert SpotDetail.objects.get().topic_tags == []


@pytest.mark.parametrize("tags", ['"temple"', "[1]", '{"a": 1}', '["a\\u0000b"]', "[not JSON"])
def test_nonsense_for_tags_is_explained_beside_the_field(admin_client, tags):
    guide = save_guide("Gate")

    page = save(admin_client, guide, topic_tags=tags)

    assert page.status_code == 200
    assert SpotDetail.objects.get().topic_tags == []


@pytest.mark.parametrize(
    ("typed", "fault"),
    [
        ("[" * 100_000, "Write tags as words with commas between them."),
        (",".join(map(str, range(21))), "At most 20 tags; these are 21."),
    ],
    ids=["deep", "many"],
)
def test_too_much_for_tags_is_explained_beside_the_field(admin_client, typed, fault):
    guide = save_guide("Gate")

    assert fault in save(admin_client, guide, topic_tags=typed).text
    assert SpotDetail.objects.get().topic_tags == []


def test_a_spot_that_had_more_tags_before_there_was_a_limit_can_be_saved(admin_client):
    guide = save_guide("Gate")
    SpotDetail.objects.update(topic_tags=[f"{n:02}" for n in range(21)])

    assert save(admin_client, guide, description="Red.").status_code == 302
    assert len(SpotDetail.objects.get().topic_tags) == 21


@pytest.mark.parametrize(
    ("typed", "tags"),
    [
        ("temple, lake", ["lake", "temple"]),
        ("寺、港，海", ["寺", "海", "港"]),
        ('["temple"]', ["temple"]),
        ("not JSON", ["not JSON"]),
    ],
)
def test_tags_are_words_with_commas_between_them(admin_client, typed, tags):
    guide = save_guide("Gate")

    assert save(admin_client, guide, topic_tags=typed).status_code == 302
    assert SpotDetail.objects.get().topic_tags == sorted(tags)
    page = admin_client.get(reverse("admin:guides_guide_change", args=[guide.pk])).text
    assert f'value="{", ".join(sorted(tags))}"' in page


@pytest.mark.parametrize(
    ("stored", "shown"),
    [([1, "x"], '[1, "x"]'), (["寺", None], '["寺", null]'), ({"a": 1}, '{"a": 1}'), (7, "7")],
)
def test_a_guide_with_tags_that_are_no_texts_opens(operator, stored, shown):
    guide = save_guide("Gate")
    SpotDetail.objects.update(topic_tags=stored)  # as plain SQL may

    page = operator.get(reverse("admin:guides_guide_change", args=[guide.pk]))

    assert f'value="{escape(shown)}"' in page.text
    assert save(operator, guide).status_code in (200, 302)  # explained, or read as words


def test_an_operator_mends_the_demo_s_failure_from_its_job_s_page(operator, pictures):
    demo.load()
    fog = SpotDetail.objects.get(topic_tags=[UNPAINTABLE])
    give_up(fog.spot_name)
    job = SpotImageJob.objects.get(spot_name=fog.spot_name)
    assert job.status == Status.FAILED
    address = reverse("admin:guides_guide_change", args=[fog.guide_id])
    page = operator.get(reverse("admin:guides_spotimagejob_change", args=[job.pk])).text
    assert f'href="{address}"' in page

    number = [spot.pk for spot in fog.guide.spots.all()].index(fog.pk)
    data = form(fog.guide) | {f"spots-{number}-topic_tags": ""}
    told = operator.post(address, data, follow=True).text
    assert "1 failed picture was asked for again." in told
    paint(fog.spot_name)

    fog.refresh_from_db()
    assert fog.picture_state == "ready"


def test_new_words_ask_for_failed_pictures_only_and_a_new_place_in_the_list_for_none(operator):
    guide = save_guide("Gate", "Pond")
    give_up("Gate")
    queue.cancel(SpotImageJob.objects.filter(spot_name="Pond"))

    save(operator, guide, position=-1)
    assert SpotImageJob.objects.get(spot_name="Gate").status == Status.FAILED
    save(operator, guide, description="A gate at dawn")

    assert SpotImageJob.objects.get(spot_name="Gate").status == Status.QUEUED
    assert SpotImageJob.objects.get(spot_name="Pond").status == Status.CANCELED


def test_a_guide_of_200_spots_can_be_saved(admin_client):
    guide = save_guide(*[f"spot {number}" for number in range(200)])

    assert save(admin_client, guide, description="new").status_code == 302


def test_a_guide_is_deleted_with_its_pictures(admin_client, pictures):
    guide = save_guide("Gate")
    paint("Gate")

    url = reverse("admin:guides_guide_delete", args=[guide.pk])
    page = admin_client.post(url, {"post": "yes"})

    assert page.status_code == 302
    assert not Guide.objects.exists()


def test_a_form_that_was_open_while_the_picture_arrived_keeps_it(admin_client, pictures):
    guide = save_guide("Gate")
    open_form = form(guide, description="new")
    paint("Gate")

    admin_client.post(reverse("admin:guides_guide_change", args=[guide.pk]), open_form)

    spot = SpotDetail.objects.get()
    assert (spot.picture_state, spot.description) == ("ready", "new")


def test_a_new_guide_with_spots_gets_its_jobs(admin_client):
    data = {
        "plan_id": "nara",
        "title": "Nara",
        "spots-TOTAL_FORMS": 1,
        "spots-INITIAL_FORMS": 0,
        "spots-0-position": 0,
        "spots-0-spot_name": "Deer",
    }

    assert admin_client.post(reverse("admin:guides_guide_add"), data).status_code == 302
    assert SpotImageJob.objects.get().status == Status.QUEUED
