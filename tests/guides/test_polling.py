"""A guide's page polls, and the response holds only what changed."""

import pytest

from guides.models import SpotDetail, SpotImageJob
from jobs import queue
from tests.guides.pages import (
    OURS,
    change,
    finish,
    new_guide,
    poll_address,
)
from tests.guides.painting import give_up

pytestmark = pytest.mark.django_db


def test_nothing_new_is_said_in_no_words(client):
    page = client.get(new_guide("Gate").get_absolute_url()).content.decode()

    assert client.get(poll_address(page)).status_code == 204


def test_a_poll_brings_only_what_changed_and_goes_on(client):
    page = client.get(new_guide("Gate", "Pond", "Hill").get_absolute_url()).content.decode()
    change("Gate", image_url=OURS)

    answer = client.get(poll_address(page))
    html = answer.content.decode()

    assert answer.status_code == 200
    assert html.count('hx-swap-oob="true"') == 1
    assert OURS in html
    assert "1 of 3 pictures ready" in html
    assert client.get(poll_address(html)).status_code == 204


def test_polling_stops_when_every_picture_is_final(client):
    page = client.get(new_guide("Gate", "Pond").get_absolute_url()).content.decode()
    finish("Gate")
    give_up("Pond")

    answer = client.get(poll_address(page))

    assert answer.status_code == 286
    assert poll_address(answer.content.decode()) is None
    assert answer.content.decode().count('hx-swap-oob="true"') == 2


def test_a_replaced_picture_reaches_the_page_and_no_other_is_sent_again(client):
    guide = new_guide("Gate", "Pond")
    finish("Gate")
    finish("Pond")
    assert poll_address(client.get(guide.get_absolute_url()).content.decode()) is None
    queue.requeue(SpotImageJob.objects.filter(spot_name="Gate"))

    page = client.get(guide.get_absolute_url()).content.decode()
    assert client.get(poll_address(page)).status_code == 204
    finish("Gate")
    change("Gate", image_url=OURS.replace("ab", "cd"))
    answer = client.get(poll_address(page))

    html = answer.content.decode()
    assert answer.status_code == 286
    assert html.count('hx-swap-oob="true"') == 1
    assert OURS.replace("ab", "cd") in html


def test_another_version_is_news_while_a_page_asks(client):
    page = client.get(new_guide("Gate", "Pond").get_absolute_url()).content.decode()
    finish("Gate")
    page = client.get(poll_address(page)).content.decode()

    change("Gate", image_url=OURS.replace("ab", "cd"))

    assert OURS.replace("ab", "cd") in client.get(poll_address(page)).content.decode()


def test_a_picture_that_is_to_be_replaced_stays_as_it_is(client):
    page = client.get(new_guide("Gate", "Pond").get_absolute_url()).content.decode()
    finish("Gate")
    page = client.get(poll_address(page)).content.decode()
    queue.requeue(SpotImageJob.objects.filter(spot_name="Gate"))

    html = client.get(poll_address(page)).content.decode()

    assert 'hx-swap-oob="true"' not in html
    assert client.get(poll_address(html)).status_code == 204


def test_a_page_with_nothing_on_its_way_never_asks(client):
    guide = new_guide("Gate")
    give_up("Gate")

    assert poll_address(client.get(guide.get_absolute_url()).content.decode()) is None


def test_a_page_whose_guide_got_other_spots_is_loaded_anew(client):
    guide = new_guide("Gate")
    page = client.get(guide.get_absolute_url()).content.decode()
    SpotDetail.objects.create(guide=guide, spot_name="Pond")

    assert client.get(poll_address(page)).headers["HX-Refresh"] == "true"


def test_an_answer_to_a_poll_is_never_kept(client):
    page = client.get(new_guide("Gate").get_absolute_url()).content.decode()
    change("Gate", image_url=OURS)

    assert "no-store" in client.get(poll_address(page)).headers["Cache-Control"]


def test_the_address_of_a_poll_stays_short_with_500_spots(client):
    guide = new_guide(*[f"Spot {n}" for n in range(500)])

    address = poll_address(client.get(guide.get_absolute_url()).content.decode())

    assert len(address) < 2_500  # gunicorn takes 4,094 characters


def test_a_page_left_open_stops_asking_for_a_deleted_guide(client):
    answer = client.get("/guides/gone/images/", headers={"HX-Request": "true"})

    assert (answer.status_code, answer.headers["HX-Refresh"]) == (286, "true")
