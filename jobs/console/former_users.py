"""What people did outlives them: deleting a user must not delete their entries in the log.

Django's log refers to its users with a cascade. So a locked user with the same name, who can't log
in, takes over the entries of a user that a program deletes. The admin refuses to delete such users.
"""

import re
from typing import Any

from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser
from django.db.models.signals import pre_delete
from django.dispatch import receiver

from jobs.console import audit

MARK = re.compile(r" \(deleted user \d+\)$")


def has_acted(user: AbstractBaseUser) -> bool:
    return LogEntry.objects.filter(user_id=user.pk).exists()


@receiver(pre_delete, sender=settings.AUTH_USER_MODEL)
def keep_what_they_did(instance: AbstractBaseUser, using: str, **_: Any) -> None:
    """Runs in the transaction of the deletion, before Django deletes what refers to the user."""
    entries = LogEntry.objects.using(using).filter(user_id=instance.pk)
    if entries.exists():
        entries.update(user_id=audit.locked_user(former_name(instance), using).pk)


def former_name(user: AbstractBaseUser) -> str:
    """The name with a mark, cut to what the column takes.

    With the user's id, so that it is a new name: a user that exists may be about to be deleted too.
    """
    mark = f" (deleted user {user.pk})"
    model: Any = get_user_model()
    longest = model._meta.get_field(model.USERNAME_FIELD).max_length or 150
    return MARK.sub("", user.get_username())[: longest - len(mark)] + mark
