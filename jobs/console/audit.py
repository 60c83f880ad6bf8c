"""The audit of what people did, in Django's own log; every job's page shows it.

The log is part of Django's admin. A project without the admin has only the log files.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django.apps import AppConfig, apps
from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import AbstractBaseUser
from django.contrib.contenttypes.models import ContentType
from django.db import connections
from django.db.models import Model, QuerySet
from django.utils import translation

from jobs.db import text

if TYPE_CHECKING or apps.is_installed("django.contrib.admin"):
    from django.contrib.admin.models import LogEntry as LogEntry
else:
    LogEntry = None

COMMAND_LINE = "command line"
LOG_INDEX = "job_log_object"
CHANGE, DELETION = 2, 3  # as Django's log has them


def command_line() -> AbstractBaseUser:
    """The user for commands without --by."""
    return locked_user(COMMAND_LINE)


def locked_user(name: str, using: str | None = None) -> AbstractBaseUser:
    """A user that can't log in, created on first use."""
    model: Any = get_user_model()
    locked: dict[str, Any] = {"password": make_password(None)}
    if any(field.name == "is_active" for field in model._meta.fields):
        locked["is_active"] = False
    user: AbstractBaseUser
    user, _is_new = model._default_manager.using(using).get_or_create(
        **{model.USERNAME_FIELD: name}, defaults=locked
    )
    return user


def index_log(sender: AppConfig, using: str, **_: Any) -> None:
    """Each job's page shows who did what to it; Django's log has no index for that.

    After `migrate` and not by a migration: a project may get the admin later, or never.
    """
    if sender.name != LogEntry._meta.app_config.name:
        return
    table, database = LogEntry._meta.db_table, connections[using]
    with database.cursor() as cursor:
        if table not in database.introspection.table_names(cursor):
            return  # a database without the log, or a `migrate` that did not get there
        if LOG_INDEX not in database.introspection.get_constraints(cursor, table):
            cursor.execute(f"CREATE INDEX {LOG_INDEX} ON {table} (object_id)")


def note(by: Any, rows: Iterable[Model], message: str, flag: int = CHANGE) -> None:
    """Write one entry per row. What a program does, not a user, is only in the log files."""
    note_each(by, [(row, message) for row in rows], flag)


def note_each(by: Any, told: Iterable[tuple[Model, str]], flag: int = CHANGE) -> None:
    """Write one entry per row, each with its own message."""
    if not _is_logged(by):
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


def _note(by: Any, model: type[Model], subject: str, message: str) -> None:
    if _is_logged(by):
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


def _is_logged(by: Any) -> bool:
    return LogEntry is not None and isinstance(by, get_user_model())


def _named(subject: object) -> str:
    """The name in English: the reader's language may differ from that of the person who acted."""
    with translation.override(None):
        return text.clean(subject, 200)


def _type_of(model: type[Model]) -> ContentType:
    return ContentType.objects.get_for_model(model)
