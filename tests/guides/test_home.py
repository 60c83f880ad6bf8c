"""Home: the guides, and the cards that change."""

import re

import pytest

from guides.models import Guide
from tests.guides.pages import (
    OURS,
    change,
    finish,
    home_address,
    new_guide,
)
from tests.guides.painting import give_up

pytestmark = pytest.mark.django_db


def test_home_tells_how_many_pictures_are_ready(client):
    new_guide("Gate", "Pond", "Hill")
    change("Gate", image_url=OURS)

    html = client.get("/").content.decode()

    assert "1 of 3 pictures ready" in html
    assert OURS in html  # the first picture is the cover


def test_home_says_of_a_final_guide_what_is_final(client):
    new_guide("Gate", "Pond", "Fog")
    finish("Gate")
    finish("Pond")
    going = client.get("/").content.decode()
    give_up("Fog")

    html = client.get(home_address(going)).content.decode()

    assert "2 of 3 pictures ready" in going
    for page in (html, client.get("/").content.decode()):
        assert "2 of 3 spots have a picture" in page
        assert "pictures ready" not in page


def test_a_guide_without_spots_leaves_no_hole_on_home(client):
    new_guide()

    html = client.get("/").content.decode()

    assert html.count('class="picture picture-none"') == 1


def test_home_asks_again_only_for_guides_with_pictures_on_their_way(client):
    new_guide("Gate", plan_id="going")
    new_guide("Pond", plan_id="done")
    finish("Pond")
    give_up("Nothing")  # claims all jobs, ends none

    asked = home_address(client.get("/").content.decode())

    assert "card=going." in asked
    assert "done" not in asked


def test_home_hears_nothing_while_nothing_is_new(client, django_assert_max_num_queries):
    new_guide("Gate", "Pond")
    address = home_address(client.get("/").content.decode())

    with django_assert_max_num_queries(4):
        answer = client.get(address)

    assert (answer.status_code, answer.content) == (204, b"")
    assert "no-store" in answer.headers["Cache-Control"]


def test_home_gets_only_the_cards_that_changed(client):
    new_guide("Gate", "Pond", plan_id="one")
    new_guide("Hill", "Lake", plan_id="two")
    address = home_address(client.get("/").content.decode())
    change("Hill", image_url=OURS)

    answer = client.get(address)

    html = answer.content.decode()
    assert answer.status_code == 200
    assert re.findall(r'<li class="card" id="([^"]+)" hx-swap-oob="true"', html) == ["guide-two"]
    assert 'id="guide-two-link"' in html  # htmx restores the focus by this id
    assert OURS in html
    assert client.get(home_address(html)).status_code == 204


def test_home_stops_asking_when_all_is_there(client):
    new_guide("Gate")
    address = home_address(client.get("/").content.decode())
    finish("Gate")

    answer = client.get(address)

    assert answer.status_code == 286
    assert home_address(answer.content.decode()) is None


def test_a_card_is_asked_for_by_its_name_even_when_newer_ones_push_it_off_the_page(client):
    new_guide("Gate", plan_id="old")
    address = home_address(client.get("/").content.decode())
    Guide.objects.bulk_create(Guide(plan_id=f"g{n:02}", title="New") for n in range(30))
    finish("Gate")

    html = client.get(address).content.decode()

    assert re.findall(r'<li class="card" id="([^"]+)"', html) == ["guide-old"]
    assert OURS in html


def test_the_card_of_a_deleted_guide_goes(client):
    guide = new_guide("Gate")
    address = home_address(client.get("/").content.decode())
    guide.delete()

    html = client.get(address).content.decode()

    assert '<li id="guide-kyoto" hx-swap-oob="delete">' in html


@pytest.mark.parametrize("query", ["", "card=", "card=%00.x", "card=kyoto&card=x.y.z", "card=.."])
def test_whatever_cards_are_asked_for_home_is_told_the_truth(client, query):
    new_guide("Gate")

    assert client.get(f"/cards/?{query}").status_code in (200, 286)


def test_home_without_guides_says_so(client):
    assert "No guides yet" in client.get("/").content.decode()


def test_home_shows_the_newest_guides_first_and_the_rest_on_further_pages(client):
    Guide.objects.bulk_create(Guide(plan_id=f"g{n:02}", title=f"Guide {n:02}") for n in range(30))

    first = client.get("/").content.decode()
    second = client.get("/?page=2").content.decode()

    assert first.count('class="card"') == 24
    assert second.count('class="card"') == 6
    assert "?page=2" in first
    assert client.get("/?page=zzz").status_code == 200
