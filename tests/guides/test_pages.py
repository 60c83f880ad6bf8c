import re

import pytest
from django.template.loader import render_to_string

from guides.models import SpotImageJob
from jobs import queue
from tests.guides.pages import (
    OURS,
    change,
    finish,
    new_guide,
    poll_address,
    spot,
)
from tests.guides.painting import give_up

pytestmark = pytest.mark.django_db


def test_a_guide_shows_its_spots_in_their_order(client):
    guide = new_guide("Zebra crossing", "Abbey")

    html = client.get(guide.get_absolute_url()).content.decode()

    headings = re.findall(r"<h2>(.*?)</h2>", html)
    assert headings == ["Zebra crossing", "Abbey"]
    assert "<noscript>" in html


@pytest.mark.parametrize("way", ["failed", "canceled"])
def test_a_final_guide_says_what_is_final(client, way):
    guide = new_guide("Gate", "Pond", "Fog")
    finish("Gate")
    finish("Pond")
    going = client.get(guide.get_absolute_url()).content.decode()
    give_up("Fog") if way == "failed" else queue.cancel(SpotImageJob.objects.all())

    page = client.get(guide.get_absolute_url()).content.decode()
    poll = client.get(poll_address(going)).content.decode()

    assert "2 of 3 pictures ready" in going
    for html in (page, poll):
        assert "2 of 3 spots have a picture" in html
        assert "pictures ready" not in html


def test_a_guide_that_got_no_picture_is_not_called_unready(client):
    guide = new_guide("Fog", "Mist")
    queue.cancel(SpotImageJob.objects.all())

    assert "Without pictures" in client.get(guide.get_absolute_url()).content.decode()


@pytest.mark.parametrize(("spots", "more"), [(12, ""), (13, "and 2 more"), (30, "and 19 more")])
def test_a_long_guide_lists_its_first_spots_and_says_how_many_follow(client, spots, more):
    guide = new_guide(*[f"Spot {n}" for n in range(spots)])

    html = client.get(guide.get_absolute_url()).content.decode()

    contents = re.search(r'<nav class="contents".*?</nav>', html, re.DOTALL)[0]
    assert contents.count("<li") == 12
    assert re.findall(r"and \d+ more", contents) == ([more] if more else [])
    assert 'class="hero hero-many"' in html


def test_pages_hold_no_script_of_their_own_and_load_nothing_from_elsewhere(client):
    guide = new_guide("Gate")

    for path in ("/", guide.get_absolute_url()):
        html = client.get(path).content.decode()
        # The page's own addresses, which search engines want whole, load nothing.
        html = re.sub(r'<link rel="(?:canonical|alternate)"[^>]*>', "", html)
        assert not re.search(r"<script(?![^>]*\bsrc=)", html)
        assert not re.search(r"<style|\sstyle=|\son\w+=", html)
        assert not re.search(r'(?:src|href|hx-get)="(?:https?:)?//', html)


@pytest.mark.parametrize("spots", [2, 30])
@pytest.mark.parametrize(("name", "queries"), [("home", 7), ("guide", 8), ("images", 6)])
def test_the_number_of_queries_is_fixed(client, django_assert_num_queries, name, queries, spots):
    for plan_id in [f"guide-{n}" for n in range(spots)]:
        new_guide(*[f"Spot {n}" for n in range(spots)], plan_id=plan_id)
    change("Spot 0", image_url=OURS)
    path = "/" if name == "home" else "/guides/guide-0/"
    page = client.get(path).content.decode()  # the first request creates the provider's row
    if name == "images":
        path = poll_address(page)

    with django_assert_num_queries(queries):
        client.get(path)


@pytest.mark.parametrize("plan_id", ["unknown", "a b", "%00", "x" * 500, "日本", "..", "'"])
def test_a_guide_that_is_not_there_is_not_found(client, plan_id):
    new_guide("Gate")

    for path in (
        f"/guides/{plan_id}/",
        f"/guides/{plan_id}/images/",
        f"/guides/{plan_id}/spots/1/image/",
    ):
        response = client.get(path)
        assert response.status_code == 404
        assert "This path leads nowhere" in response.content.decode()


def test_a_spot_is_found_in_its_own_guide_only(client):
    new_guide("Gate", plan_id="one")
    new_guide("Pond", plan_id="two")

    def status(plan_id, spot_id):
        return client.get(f"/guides/{plan_id}/spots/{spot_id}/image/").status_code

    assert status("one", spot("Gate").pk) == 200
    assert status("two", spot("Gate").pk) == 404
    assert status("one", 10**30) == 404


@pytest.mark.parametrize("path", ["/", "/guides/kyoto/", "/guides/kyoto/images/"])
def test_pages_are_only_read(client, path):
    new_guide("Gate")

    assert client.post(path).status_code == 405


def test_the_page_for_our_own_faults_needs_nothing():
    assert "A stone on the path" in render_to_string("500.html")


def test_pages_speak_the_visitors_language(client):
    guide = new_guide("Gate")

    for path in ("/", guide.get_absolute_url(), "/nowhere/"):
        page = client.get(path, headers={"Accept-Language": "ja"}).content.decode()
        assert '<html lang="ja">' in page
        assert "本文へ移動" in page
