"""A withdrawn guide leaves the pages, its pictures are not made, and it can come back."""

import pytest

from guides import services
from guides.models import Guide, SpotDetail, SpotImageJob
from jobs.models import Event, Status
from tests.guides.conftest import save_guide
from tests.guides.handover import guide
from tests.guides.painting import paint
from tests.guides.withdrawing import is_withdrawn, withdraw

pytestmark = pytest.mark.django_db

PAGES = ["/guides/kyoto/", "/guides/kyoto/images/"]


def statuses():
    return dict(SpotImageJob.objects.values_list("spot_name", "status"))


def test_its_pages_say_that_it_was_withdrawn(client):
    save_guide("Gate")
    spot = SpotDetail.objects.get()

    withdraw()

    for page in [*PAGES, f"/guides/kyoto/spots/{spot.pk}/image/"]:
        answer = client.get(page)
        assert answer.status_code == 410, page
        assert "This guide was withdrawn" in answer.text
        assert "Kyoto" not in answer.text


def test_an_open_page_that_polls_reloads(client):
    save_guide("Gate")
    withdraw()

    answer = client.get("/guides/kyoto/images/", headers={"HX-Request": "true"})

    assert (answer.status_code, answer.headers["HX-Refresh"]) == (286, "true")


def test_the_api_says_that_it_was_withdrawn(client):
    save_guide("Gate")
    withdraw()

    answer = client.get("/api/guides/kyoto/status/")

    assert (answer.status_code, answer.json()["error"]["code"]) == (410, "withdrawn")
    assert client.get("/api/guides/unknown/status/").status_code == 404


def test_a_guide_without_spots_is_withdrawn_too(client):
    save_guide()
    withdraw()

    assert [client.get(page).status_code for page in PAGES] == [410, 410]


def test_it_leaves_the_home_page(client):
    save_guide("Gate")
    save_guide("Deer", plan_id="nara")
    withdraw()

    page = client.get("/").text

    assert "/guides/nara/" in page
    assert "/guides/kyoto/" not in page
    removed = '<li id="guide-kyoto" hx-swap-oob="delete">'
    assert removed in client.get("/cards/?card=kyoto.x").text


def test_its_missing_pictures_are_canceled_and_those_it_has_stay(pictures):
    save_guide("Gate", "Pond")
    paint("Gate")

    withdraw()

    assert statuses() == {"Gate": Status.SUCCEEDED, "Pond": Status.CANCELED}
    assert SpotImageJob.objects.get(spot_name="Pond").last_error == "Its guide was withdrawn."
    assert SpotDetail.objects.get(spot_name="Gate").image_url


def test_another_guide_keeps_its_pictures():
    save_guide("Gate")
    save_guide("Deer", plan_id="nara")

    withdraw()

    assert statuses() == {"Gate": Status.CANCELED, "Deer": Status.QUEUED}
    assert not is_withdrawn("nara")


def test_an_unknown_guide_changes_nothing_and_the_event_is_processed():
    save_guide("Gate")

    event = withdraw("osaka")

    assert Event.objects.get(pk=event.pk).processed_at
    assert not is_withdrawn()


def test_twice_is_as_once():
    save_guide("Gate")
    withdraw()
    since = Guide.objects.get().withdrawn_at

    withdraw()

    assert Guide.objects.get().withdrawn_at == since


def test_handing_it_over_again_publishes_it_and_asks_for_the_pictures_it_lacks(send, pictures):
    send(guide("Gate", "Pond", "Hill"))
    paint("Gate")
    withdraw()

    answer = send(guide("Gate", "Pond"))

    assert (answer.status_code, answer.json()["result"]) == (200, "updated")
    assert answer.json()["pictures_asked_for"] == 1
    assert statuses() == {
        "Gate": Status.SUCCEEDED,
        "Pond": Status.QUEUED,
        "Hill": Status.CANCELED,  # no longer part of it
    }
    assert not is_withdrawn()


def test_handing_over_the_same_again_publishes_it_too(send):
    send(guide("Gate"))
    withdraw()

    answer = send(guide("Gate"))

    assert (answer.json()["result"], answer.json()["pictures_asked_for"]) == ("updated", 1)
    assert not is_withdrawn()
    assert send(guide("Gate")).json()["result"] == "unchanged"


def test_a_quota_that_does_not_cover_its_pictures_leaves_it_withdrawn(send):
    send(guide("Gate"))
    withdraw()

    def refuse(pictures):
        raise RuntimeError(f"{pictures} are too many")

    with pytest.raises(RuntimeError, match="1 are too many"):
        services.put_guide(
            Guide(plan_id="kyoto", title="Kyoto"), [SpotDetail(spot_name="Gate")], refuse
        )

    assert is_withdrawn()
    assert statuses() == {"Gate": Status.CANCELED}
