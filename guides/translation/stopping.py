"""A guide that is deleted needs no translations any more."""

from typing import Any

from django.db.models.signals import pre_delete
from django.dispatch import receiver

from guides.models import Guide
from guides.translation import asking


@receiver(pre_delete, sender=Guide)
def stop_translating(instance: Guide, **_kwargs: Any) -> None:
    """Before the guide is deleted: jobs are always locked first."""
    asking.stop(instance.pk, by="its guide")
