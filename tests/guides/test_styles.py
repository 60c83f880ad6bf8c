"""The style a person chose for a guide reaches whoever paints its pictures."""

import pytest

from guides import images, styles
from guides.styles import PictureStyle

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("style", [each for each in PictureStyle if each])
def test_a_chosen_style_is_told_in_words(spot, style):
    spot.guide.picture_style = style

    request = images.request_for(spot)

    assert styles.WORDS[style] in request.prompt
    assert request.style == styles.WORDS[style]


def test_without_a_choice_the_sites_style_holds(spot, settings):
    settings.PICTURE_STYLE = "charcoal"

    assert images.request_for(spot).style == "charcoal"
