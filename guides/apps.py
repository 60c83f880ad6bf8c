from typing import Any

from django.apps import AppConfig
from django.db.models import Model
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
        from guides.topics import models as topics  # noqa: F401
        from guides.translation import correcting, following, stopping  # noqa: F401
        from guides.weeks import jobs  # noqa: F401
        from guides.writing import asking  # noqa: F401

    def ready(self) -> None:
        from guides.derived import told
        from guides.scribe import Scribe
        from jobs.console import subjects
        from jobs.llm import writers

        post_migrate.connect(grant_guides, sender=self)
        writers.register("scribe", Scribe())
        subjects.describes(told.subjects_of)


def grant_guides(using: str, **more: Any) -> None:
    """Editors make and edit guides; operators mend them, and choose among their pictures."""
    from guides.derived.models import Commission, Version
    from guides.models import Guide, SpotDetail, SpotImage, SpotImageJob
    from guides.topics.models import TopicSummary
    from guides.weeks.models import WeekText
    from jobs.console import groups

    derived = {
        Version: ("view", "change"),
        Commission: ("view",),
        TopicSummary: ("view", "change"),
        WeekText: ("view", "change"),
    }
    models: list[type[Model]] = [Guide, SpotDetail, SpotImage, *derived]
    seen = dict.fromkeys(models, ("view",))
    mended = {
        Guide: ("view", "change"),
        SpotDetail: ("view", "change"),
        SpotImage: ("view", "change"),
        **derived,
    }
    edited = {
        Guide: ("view", "add", "change"),
        SpotDetail: ("view", "add", "change", "delete"),
        SpotImage: ("view", "change"),
        SpotImageJob: ("view",),
        **derived,
    }
    groups.grant(groups.VIEWERS, seen, using)
    groups.grant(groups.OPERATORS, mended, using)
    groups.grant(groups.EDITORS, edited, using)
