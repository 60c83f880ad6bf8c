from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class GuidesConfig(AppConfig):
    name = "guides"
    verbose_name = _("Pictures")
    default_auto_field = "django.db.models.BigAutoField"

    def import_models(self) -> None:
        super().import_models()
        # Slices stand above `guides.models`, which they derive their texts from.
        from guides.derived import models  # noqa: F401
        from guides.writing import asking  # noqa: F401

    def ready(self) -> None:
        from guides.scribe import Scribe
        from jobs.llm import writers

        post_migrate.connect(grant_guides, sender=self)
        writers.register("scribe", Scribe())


def grant_guides(using: str, **more: Any) -> None:
    """Editors make and edit guides; operators mend them, and choose among their pictures."""
    from guides.models import Guide, SpotDetail, SpotImage, SpotImageJob
    from jobs.console import groups

    seen = {Guide: ("view",), SpotDetail: ("view",), SpotImage: ("view",)}
    mended = {
        Guide: ("view", "change"),
        SpotDetail: ("view", "change"),
        SpotImage: ("view", "change"),
    }
    edited = {
        Guide: ("view", "add", "change"),
        SpotDetail: ("view", "add", "change", "delete"),
        SpotImage: ("view", "change"),
        SpotImageJob: ("view",),
    }
    groups.grant(groups.VIEWERS, seen, using)
    groups.grant(groups.OPERATORS, mended, using)
    groups.grant(groups.EDITORS, edited, using)
