"""The ways in which alerts leave, as the settings configure them."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from django.db import models
from django.utils.translation import gettext_lazy as _

from jobs import settings

DEADLINE = 10.0  # seconds, for one message; a job has a minute, for a host with dead addresses


class Way(models.TextChoices):
    WEBHOOK = "webhook", _("webhook")
    MAIL = "mail", _("e-mail")


class NotDelivered(Exception):
    """It is not known to have arrived; sent again, it may. The text holds no secret."""


# Optional settings: a project without them has no alerts.


def webhook_url() -> str:
    url: str = settings.ALERT_WEBHOOK_URL
    return url


def receivers() -> Sequence[str]:
    emails: Sequence[str] = settings.ALERT_EMAILS
    return emails


def configured() -> list[Way]:
    ways = {Way.WEBHOOK: webhook_url(), Way.MAIL: receivers()}
    return [way for way, destination in ways.items() if destination]


def destination(way: str) -> str:
    """Where its messages go, for people. The rest of a webhook's address is often a secret."""
    if way == Way.WEBHOOK:
        return urlsplit(webhook_url()).hostname or ""
    return ", ".join(receivers())
