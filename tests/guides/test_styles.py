"""The style a person chose for a guide reaches the provider."""

import hashlib
import io

import pytest
from PIL import Image, ImageStat

from guides import images, painter, styles
from guides.painter import media
from guides.styles import PictureStyle

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("style", [each for each in PictureStyle if each])
def test_a_chosen_style_is_told_first_and_in_our_words(spot, style, settings):
    settings.PICTURE_STYLE = "charcoal"
    spot.guide.picture_style = style

    request = images.request_for(spot)

    first, facts = request.prompt.split("\n", 1)
    assert f"in this style: {styles.WORDS[style]}." in first
    assert "poster" not in request.prompt
    assert styles.WORDS[style] not in facts
    assert request.style == styles.WORDS[style]


def test_without_a_choice_the_sites_style_holds(spot, settings):
    settings.PICTURE_STYLE = "charcoal"

    request = images.request_for(spot)

    assert request.style == "charcoal"
    assert "in this style: charcoal." in request.prompt


def test_without_any_style_the_prompt_is_what_it_always_was(spot):
    prompt = images.request_for(spot).prompt

    # A new prompt buys a new picture for every spot: change it on purpose only.
    assert prompt.startswith("Paint a travel poster of one place")
    assert hashlib.sha256(prompt.encode()).hexdigest()[:16] == "c5a7bd2ed2920620"


def test_the_default_is_not_called_what_it_may_not_be():
    assert PictureStyle.USUAL.label == "the site’s usual style"


@pytest.mark.parametrize(("provider", "takes_photographs"), [("painter", False), ("gemini", True)])
def test_the_painter_offers_only_what_it_can(settings, provider, takes_photographs):
    settings.IMAGE_PROVIDER = provider

    offered = [value for value, _ in styles.offered()]

    assert ("photograph" in offered) == takes_photographs
    assert offered[:4] == ["", "watercolour", "woodblock", "ink"]


def test_each_medium_looks_like_itself():
    hues = Image.linear_gradient("L")
    image = Image.merge("RGB", (hues, hues.rotate(90), hues.rotate(180))).resize((64, 64))
    colours = len(image.getcolors(64 * 64))

    looks = {style: media.named_in(words) for style, words in styles.WORDS.items()}

    assert looks.pop("photograph") is None
    watercolour, woodblock, ink = (draw(image) for draw in looks.values())
    assert brightness(watercolour) > brightness(image) + 20
    assert len(woodblock.getcolors(64 * 64)) < colours / 4
    assert saturation(ink) < saturation(image) / 2


def test_the_painter_uses_the_medium(monkeypatch):
    ink = Image.open(io.BytesIO(painter.paint("Lake", style=styles.WORDS["ink"])))
    monkeypatch.setattr(media, "MEDIA", {})
    poster = Image.open(io.BytesIO(painter.paint("Lake", style=styles.WORDS["ink"])))

    assert saturation(ink) < saturation(poster) / 2


def brightness(image):
    return ImageStat.Stat(image.convert("L")).mean[0]


def saturation(image):
    return ImageStat.Stat(image.convert("HSV")).mean[1]
