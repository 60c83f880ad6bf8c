"""What a poll returns besides pictures: the time left, a bar, and announcements."""

import re

import pytest

from guides.models import SpotDetail
from tests.guides.conftest import save_guide
from tests.guides.history import have_worker, remember
from tests.guides.pages import OURS, change, poll_address

pytestmark = pytest.mark.django_db


def open_page(client):
    return client.get("/guides/kyoto/").content.decode()


def bar(html):
    return re.search(r'<progress [^>]*value="(\d+)" max="(\d+)"', html).groups()


def test_the_bar_counts_what_has_ended(client):
    save_guide(*"abcd")
    change("a", image_url=OURS)
    change("b", image_status="failed")

    assert bar(open_page(client)) == ("2", "4")


def test_a_page_with_nothing_on_its_way_has_no_bar(client):
    save_guide("a")
    change("a", image_url=OURS)

    assert "<progress" not in open_page(client)


def test_the_last_poll_leaves_a_full_bar_so_that_nothing_moves(client):
    save_guide("a", "b")
    page = open_page(client)
    SpotDetail.objects.update(image_url=OURS)

    assert bar(client.get(poll_address(page)).content.decode()) == ("2", "2")


def test_the_page_says_how_long_it_may_take(client):
    save_guide("a")
    remember(3, seconds=100)
    have_worker()

    assert "about 2 minutes left" in open_page(client)


def test_a_new_estimate_is_news(client):
    save_guide("a")
    page = open_page(client)
    assert client.get(poll_address(page)).status_code == 204
    remember(3, seconds=100)
    have_worker()

    answer = client.get(poll_address(page))

    assert answer.status_code == 200
    assert "about 2 minutes left" in answer.content.decode()
    assert 'hx-swap-oob="true"' not in answer.content.decode()


def test_a_listener_hears_of_each_quarter_and_not_of_each_picture(client):
    save_guide(*(f"{n:02}" for n in range(30)))
    html = open_page(client)
    assert html.count('role="status"') == 1
    heard = []
    for n in range(30):
        change(f"{n:02}", image_url=OURS)
        html = client.get(poll_address(html)).content.decode()
        heard += re.findall(r'id="heard" hx-swap-oob="innerHTML">([^<]*?)\s*</p>', html)

    assert heard == [
        "8 of 30 pictures ready",
        "15 of 30 pictures ready",
        "23 of 30 pictures ready",
        "30 pictures",
    ]


@pytest.mark.parametrize("states", ["", "r", "rrrrrrrrrrrr", "\x00<script>", "日"])
def test_whatever_a_page_claims_to_show_it_is_told_the_truth(client, states):
    save_guide("a", "b")
    address = poll_address(open_page(client))

    answer = client.get(re.sub("states=[a-z0-9]*", "", address), {"states": states})

    assert answer.status_code in (200, 286)


def test_without_scripts_the_page_reloads_itself(client):
    save_guide("a")
    refresh = '<noscript><meta http-equiv="refresh"'

    assert refresh in open_page(client)
    assert refresh in client.get("/").content.decode()
    change("a", image_url=OURS)
    assert refresh not in open_page(client)
