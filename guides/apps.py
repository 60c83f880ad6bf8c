from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class GuidesConfig(AppConfig):
    name = "guides"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        post_migrate.connect(grant_guides, sender=self)


def grant_guides(using: str, **_: Any) -> None:
    """Let operators view guides and choose among their pictures, but not edit guides."""
    from guides.models import Guide, SpotDetail, SpotImage
    from jobs.console import groups

    seen = {Guide: ("view",), SpotDetail: ("view",), SpotImage: ("view",)}
    groups.grant(groups.OPERATORS, {**seen, SpotImage: ("view", "change")}, using)
    groups.grant(groups.VIEWERS, seen, using)
