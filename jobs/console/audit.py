"""The audit of what people did, in Django's own log; every job's page shows it."""

from collections.abc import Iterable
from typing import Any

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.db.models import Model, QuerySet
from django.utils import translation

from jobs.db import text

COMMAND_LINE = "command line"


def command_line() -> User:
    """The user for commands without --by. It can't log in, and is created on first use."""
    locked = {"is_active": False, "password": make_password(None)}
    user, _is_new = User.objects.get_or_create(username=COMMAND_LINE, defaults=locked)
    return user


def note(by: object, rows: Iterable[Model], message: str, flag: int = CHANGE) -> None:
    """Write one entry per row. What a program does, not a user, is only in the log files."""
    if not isinstance(by, User):
        return
    LogEntry.objects.bulk_create(
        [
            LogEntry(
                user_id=by.pk,
                content_type_id=_type_of(type(row)).pk,
                object_id=str(row.pk),
                object_repr=_named(row),
                action_flag=flag,
                change_message=text.clean(message),
            )
            for row in rows
        ]
    )


def note_many(by: object, model: type[Model], number: int, message: str) -> None:
    """Write one entry for many rows, with their number."""
    if isinstance(by, User):
        LogEntry.objects.create(
            user_id=by.pk,
            content_type_id=_type_of(model).pk,
            object_id=None,
            object_repr=f"{number} {_named(model._meta.verbose_name_plural)}",
            action_flag=CHANGE,
            change_message=text.clean(message),
        )


def about(row: Model) -> QuerySet[LogEntry]:
    """What people did to this row, newest first."""
    entries: Any = LogEntry.objects.filter(content_type=_type_of(type(row)), object_id=str(row.pk))
    return entries.select_related("user").order_by("-action_time")  # type: ignore[no-any-return]


def _named(subject: object) -> str:
    """The name in English: the reader's language may differ from that of the person who acted."""
    with translation.override(None):
        return text.clean(subject, 200)


def _type_of(model: type[Model]) -> ContentType:
    return ContentType.objects.get_for_model(model)
