import json

import pytest
from django.urls import reverse

from guides.models import Guide, SpotDetail, SpotImageJob
from jobs.models import Status
from tests.guides.conftest import save_guide
from tests.guides.painting import paint

pytestmark = pytest.mark.django_db(transaction=True)


def form(guide, **changed):
    """The form data that a browser sends from a guide's page."""
    spots = list(guide.spots.all())
    data = {"title": guide.title, "destination": guide.destination, "summary": ""}
    data |= {"spots-TOTAL_FORMS": len(spots), "spots-INITIAL_FORMS": len(spots)}
    for number, spot in enumerate(spots):
        data |= {
            f"spots-{number}-id": spot.id,
            f"spots-{number}-guide": guide.pk,
            f"spots-{number}-position": spot.position,
            f"spots-{number}-spot_name": spot.spot_name,
            f"spots-{number}-description": spot.description,
            f"spots-{number}-topic_tags": json.dumps(spot.topic_tags),
            f"initial-spots-{number}-topic_tags": json.dumps(spot.topic_tags),
        }
    return data | {f"spots-0-{name}": value for name, value in changed.items()}


def save(client, guide, **changed):
    url = reverse("admin:guides_guide_change", args=[guide.pk])
    return client.post(url, form(guide, **changed))


@pytest.mark.parametrize("tags", ["", "null", "[]"])
def test_tags_can_be_emptied(admin_client, tags):
    guide = save_guide("Gate")
    SpotDetail.objects.update(topic_tags=["shrine"])

    assert save(admin_client, guide, topic_tags=tags).status_code == 302
    assert SpotDetail.objects.get().topic_tags == []


@pytest.mark.parametrize("tags", ['"temple"', "5", "[1]", '{"a": 1}', '["a\\u0000b"]', "not JSON"])
def test_nonsense_for_tags_is_explained_beside_the_field(admin_client, tags):
    guide = save_guide("Gate")

    page = save(admin_client, guide, topic_tags=tags)

    assert page.status_code == 200
    assert SpotDetail.objects.get().topic_tags == []


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
