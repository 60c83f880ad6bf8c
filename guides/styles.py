"""How a guide's pictures may look: chosen by a person, told to the provider in words of ours."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class PictureStyle(models.TextChoices):
    USUAL = "", _("travel poster")
    WATERCOLOUR = "watercolour", _("watercolour")
    WOODBLOCK = "woodblock", _("woodblock print")
    INK = "ink", _("ink drawing")
    PHOTOGRAPH = "photograph", _("photograph")


# As an artist would be told; the usual style needs no words.
WORDS: dict[str, str] = {
    PictureStyle.WATERCOLOUR: "a loose watercolour on white paper",
    PictureStyle.WOODBLOCK: "a Japanese woodblock print in flat colours with fine outlines",
    PictureStyle.INK: "an ink drawing with a few washes of colour",
    PictureStyle.PHOTOGRAPH: "a photograph in natural light",
}
