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
    """The user for commands without --by."""
    return locked_user(COMMAND_LINE)


def locked_user(name: str, using: str | None = None) -> User:
    """A user that can't log in, created on first use."""
    locked = {"is_active": False, "password": make_password(None)}
    user, _is_new = User.objects.using(using).get_or_create(username=name, defaults=locked)
    return user


def note(by: object, rows: Iterable[Model], message: str, flag: int = CHANGE) -> None:
    """Write one entry per row. What a program does, not a user, is only in the log files."""
    note_each(by, [(row, message) for row in rows], flag)


def note_each(by: object, told: Iterable[tuple[Model, str]], flag: int = CHANGE) -> None:
    """Write one entry per row, each with its own message."""
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
            for row, message in told
        ]
    )


def note_many(by: object, model: type[Model], number: int, message: str) -> None:
    """Write one entry for many rows, with their number."""
    _note(by, model, f"{number} {_named(model._meta.verbose_name_plural)}", message)


def _note(by: object, model: type[Model], subject: str, message: str) -> None:
    if isinstance(by, User):
        LogEntry.objects.create(
            user_id=by.pk,
            content_type_id=_type_of(model).pk,
            object_id=None,
            object_repr=subject,
            action_flag=CHANGE,
            change_message=text.clean(message),
        )


def note_kind(by: object, model: type[Model], message: str) -> None:
    """Write one entry about a kind of rows, not about any of them."""
    _note(by, model, _named(model._meta.verbose_name_plural), message)


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
