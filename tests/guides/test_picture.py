"""One picture, in each of its states."""

import pytest
from django.utils.html import escape

from guides.models import Guide, ImageStatus, SpotImageJob
from jobs import queue
from tests.guides.pages import (
    HASH,
    OURS,
    change,
    drawn,
    new_guide,
    spot,
)
from tests.guides.painting import give_up

pytestmark = pytest.mark.django_db


def test_a_ready_picture_is_drawn_in_all_widths_and_moves_nothing(client):
    new_guide("Gate")
    change("Gate", image_url=OURS, blur="data:image/webp;base64,UklGRg==")

    html = drawn("Gate")

    assert f'src="{OURS}"' in html
    assert f"/pictures/{HASH}/480.webp 480w" in html
    assert "sizes=" in html
    for attribute in ('width="1024"', 'height="1024"', 'loading="lazy"', 'decoding="async"'):
        assert attribute in html
    assert 'alt="Picture of Gate"' in html
    assert 'src="data:image/webp;base64,UklGRg=="' in html
    assert "aria-busy" not in html


@pytest.mark.parametrize("status", ImageStatus.values)
def test_what_has_a_picture_shows_it_whatever_becomes_of_the_next(status):
    new_guide("Gate")
    change("Gate", image_url=OURS, image_status=status)

    assert OURS in drawn("Gate")


def test_a_picture_from_elsewhere_is_shown_as_it_is():
    new_guide("Gate")
    change("Gate", image_url="https://example.org/gate.jpg?a=1&b=2")

    html = drawn("Gate")

    assert 'src="https://example.org/gate.jpg?a=1&amp;b=2"' in html
    assert "srcset" not in html


@pytest.mark.parametrize(
    "image_url",
    [
        "javascript:alert(1)",
        "JAVASCRIPT:alert(1)",
        " javascript:alert(1)",
        "java\nscript:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        "//example.org/gate.jpg",
        "/\\example.org/gate.jpg",
        "ftp://example.org/gate.jpg",
        "https://",
        "gate.jpg",
    ],
)
def test_what_is_no_address_of_a_picture_is_not_drawn(image_url):
    new_guide("Gate")
    change("Gate", image_url=image_url)

    html = drawn("Gate")

    assert "<img" not in html
    assert "alert" not in html
    assert "example.org" not in html
    assert spot("Gate").picture_state == "loading"
    assert not Guide.objects.with_progress().get().ready_count


def test_a_preview_that_is_more_than_a_picture_stays_out_of_the_styles():
    new_guide("Gate")
    change("Gate", image_url=OURS, blur="x); background: url(https://example.org/")

    assert "example.org" not in drawn("Gate")


def test_a_picture_on_its_way_is_loading():
    new_guide("Gate")

    html = drawn("Gate")

    assert 'aria-busy="true"' in html
    assert "picture-loading" in html
    assert "hsl(" in html


def test_a_failed_picture_is_said_calmly_and_without_its_error():
    new_guide("Gate")
    give_up("Gate")

    html = drawn("Gate")

    assert "This picture didn’t work out" in html
    assert "blue" not in html
    assert "aria-busy" not in html


def test_a_spot_nobody_paints_is_neutral():
    new_guide("Gate")
    queue.cancel(SpotImageJob.objects.all())

    html = drawn("Gate")

    assert "picture-none" in html
    assert "<img" not in html
    assert "aria-busy" not in html


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "\" onerror='alert(1)", "<b>&amp;"])
def test_names_are_text_and_nothing_else(client, name):
    guide = new_guide(name, summary=name)
    pages = [client.get("/"), client.get(guide.get_absolute_url())]
    change(name, image_url=OURS, description=name, topic_tags=[name])
    pages += [client.get("/"), client.get(guide.get_absolute_url())]

    for page in pages:
        assert escape(name) in page.content.decode()
        assert name not in page.content.decode()
