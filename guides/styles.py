"""Styles of a guide's pictures: a person chooses one, the prompt describes it in our words."""

from typing import Any

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class PictureStyle(models.TextChoices):
    USUAL = "", _("the site’s usual style")  # PICTURE_STYLE, or a travel poster
    WATERCOLOUR = "watercolour", _("watercolour")
    WOODBLOCK = "woodblock", _("woodblock print")
    INK = "ink", _("ink drawing")
    PHOTOGRAPH = "photograph", _("photograph")


# Written as instructions to an artist.
WORDS: dict[str, str] = {
    PictureStyle.WATERCOLOUR: "a loose watercolour on white paper",
    PictureStyle.WOODBLOCK: "a Japanese woodblock print in flat colours with fine outlines",
    PictureStyle.INK: "an ink drawing with a few washes of colour",
    PictureStyle.PHOTOGRAPH: "a photograph in natural light",
}


def words_for(picture_style: str) -> str:
    """The words of the chosen style, else of the site's; empty means a travel poster."""
    return WORDS.get(picture_style) or str(settings.PICTURE_STYLE)


def offered() -> list[tuple[str, Any]]:
    """The styles a person may choose: the painter can't make photographs."""
    unknown = {PictureStyle.PHOTOGRAPH} if settings.IMAGE_PROVIDER == "painter" else set[str]()
    return [choice for choice in PictureStyle.choices if choice[0] not in unknown]
