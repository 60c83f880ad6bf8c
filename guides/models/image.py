"""The pictures that a spot has, or has had."""

from dataclasses import fields

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from guides.images import Picture


class SpotImage(models.Model):
    """One picture and the request that made it. Nothing overwrites it."""

    spot = models.ForeignKey(
        "guides.SpotDetail",
        on_delete=models.CASCADE,
        related_name="images",
        verbose_name=_("spot"),
    )
    version = models.IntegerField(_("version"))
    is_current = models.BooleanField(_("current"), default=False)
    payload_hash = models.CharField(_("payload hash"), max_length=64)
    object_name = models.TextField(
        _("name in the storage"), help_text=_("folder of its files in the picture storage")
    )
    bytes = models.IntegerField(_("bytes"))
    width = models.IntegerField(_("width"))
    height = models.IntegerField(_("height"))
    blur = models.TextField(_("preview"), blank=True)
    provider = models.TextField(_("provider"))
    model = models.TextField(_("model"), blank=True)
    prompt = models.TextField(_("prompt"))
    cost = models.DecimalField(_("cost"), max_digits=10, decimal_places=4, default=0)
    seconds = models.FloatField(_("seconds"), default=0.0, db_default=0.0)
    asked_by = models.TextField(
        _("asked by"), blank=True, default="", db_default="", help_text=_("empty: the guide")
    )
    created_at = models.DateTimeField(_("created"), db_default=Now(), editable=False)

    class Meta:
        db_table = "spot_images"
        ordering = ["-version"]
        verbose_name = _("picture")
        verbose_name_plural = _("pictures")
        constraints = [
            models.UniqueConstraint(fields=["spot", "version"], name="one_picture_per_version"),
            # The same request makes no new version.
            models.UniqueConstraint(
                fields=["spot", "payload_hash"], name="one_picture_per_payload"
            ),
            models.UniqueConstraint(
                fields=["spot"], condition=Q(is_current=True), name="one_current_picture"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.spot}, {self.version}"

    def as_picture(self) -> Picture:
        return Picture(**{field.name: getattr(self, field.name) for field in fields(Picture)})
