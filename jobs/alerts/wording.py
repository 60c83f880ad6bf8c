"""What a message says."""

import platform
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db import models
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from jobs.db import clock, database, text
from jobs.models import Alert

LONGEST = 500  # bytes of a text


class Event(models.TextChoices):
    """What a message tells of its alert."""

    BEGUN = "begun", gettext_lazy("begun")
    ENDED = "ended", gettext_lazy("ended")
    TEST = "test", gettext_lazy("test")


@dataclass(frozen=True)
class Message:
    id: str  # the same whenever it is sent again
    event: str
    kind: str
    key: str
    text: str
    began_at: datetime
    ended_at: datetime | None
    site: str
    database: str  # of the site, if it has a name
    url: str
    sent_at: datetime


def message(id: object, event: str, alert: Alert) -> Message:
    """The message as of now: its figures may have changed since the last try."""
    base = getattr(settings, "SITE_URL", "")
    name, sentence = database.name(), _sentence(event, alert)
    return Message(
        id=str(id),
        event=event,
        kind=alert.kind,
        key=alert.key,
        text=f"{name}: {sentence}" if name else sentence,
        began_at=alert.began_at,
        ended_at=alert.ended_at,
        site=urlsplit(base).netloc or platform.node(),
        database=name,
        url=f"{base}{alert.path}" if base and alert.path else "",
        sent_at=clock.now(),
    )


def _sentence(event: str, alert: Alert) -> str:
    """A receiver that shows nothing but the text must not take an end for a beginning."""
    if event != Event.ENDED:
        return alert.text
    with in_the_sites_language():
        return _("Over: %s") % alert.text


def in_the_sites_language() -> Any:
    return translation.override(settings.LANGUAGE_CODE)


def one_line(words: object) -> str:
    """A text of bounded length that starts no line and moves no cursor: it may be an attacker's."""
    return text.printable(text.clean(" ".join(text.clean(words).split()), LONGEST))
