"""How a guide's pictures are bought: each at once, or together by tomorrow, at a lower price."""

from typing import Any

from django.db import models
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from jobs.models import Provider
from jobs.paid.batches.strategy import offers_batches


class PictureStrategy(models.TextChoices):
    USUAL = "", gettext_lazy("as the provider’s row says")
    SYNC = "sync", gettext_lazy("now")
    BATCH = "batch", gettext_lazy("by tomorrow, at the batch price")


def offered(provider: Provider) -> list[tuple[str, Any]]:
    """The choices of a person; none where the provider has no batches."""
    if not offers_batches(provider):
        return []
    return [(PictureStrategy.SYNC, _("now")), (PictureStrategy.BATCH, by_tomorrow(provider))]


def by_tomorrow(provider: Provider) -> str:
    if provider.batch_percent == 50:
        return _("by tomorrow, half the price")
    return _("by tomorrow, at %(percent)d%% of the price") % {"percent": provider.batch_percent}
