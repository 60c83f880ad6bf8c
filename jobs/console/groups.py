"""User groups: viewers see, operators act, editors write guides.

Created after `migrate`, when permissions exist.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from django.apps import AppConfig
from django.contrib.auth.models import Group, Permission
from django.db import connections
from django.db.models import Model
from django.db.models.signals import pre_migrate
from django.dispatch import receiver

from jobs.console import audit
from jobs.models import Alert, Attempt, Call, Event, Job, Process, Provider, Schedule, Worker

VIEWERS, OPERATORS, EDITORS = "viewers", "operators", "editors"
Grants = Mapping[type[Model], Iterable[str]]

OPERATE: Grants = {
    Job: ("view", "change", "delete"),
    Process: ("view", "change"),
    Provider: ("view", "change"),
    Schedule: ("view", "change"),
    Worker: ("view", "change"),
    Call: ("view", "change"),
    Attempt: ("view",),
    Alert: ("view", "change"),
    Event: ("view",),
}
if audit.LogEntry is not None:  # the project has Django's admin
    OPERATE = {**OPERATE, audit.LogEntry: ("view",)}
# Django had this permission before the groups got it: a `migrate` grants it together with one
# that came in the same release.
LATE = {("admin", "view_logentry")}
LATE_WITH = ("jobs", "view_pause")


def make_groups(sender: AppConfig, using: str, **_: Any) -> None:
    """Grant the groups their permissions on an app's models."""
    acts = {
        model: verbs
        for model in sender.get_models()
        for base, verbs in OPERATE.items()
        if issubclass(model, base)
    }
    grant(OPERATORS, acts, using)
    grant(VIEWERS, dict.fromkeys(acts, ("view",)), using)


# Of the current `migrate`, per database: the permissions at its start, and the groups it made.
known_before: dict[str, set[tuple[str, str]]] = {}
new_groups: set[tuple[str, str]] = set()


@receiver(pre_migrate)
def remember(sender: AppConfig, using: str, **_: Any) -> None:
    """Note once per run which permissions exist."""
    if sender.name != "jobs":
        return
    new_groups.clear()
    known_before[using] = set()
    if Permission._meta.db_table in connections[using].introspection.table_names():
        permissions = Permission.objects.using(using).order_by()
        names = permissions.values_list("content_type__app_label", "codename")
        known_before[using] = set(names)


def grant(name: str, grants: Grants, using: str) -> None:
    """Grant a group only what is new, so that permissions a person took away stay away.

    A group created by this run gets all of them; an older group only those created by this run.
    """
    if not grants:
        return
    group, is_new = Group.objects.using(using).get_or_create(name=name)
    if is_new:
        new_groups.add((using, name))
    wanted = {
        (model._meta.app_label, f"{verb}_{model._meta.model_name}")
        for model, verbs in grants.items()
        for verb in verbs
    }
    if (using, name) not in new_groups:
        known = known_before.get(using, wanted)
        wanted -= known if LATE_WITH in known else known - LATE
    if wanted:
        apps = {app for app, _ in wanted}
        there = Permission.objects.using(using).filter(content_type__app_label__in=apps)
        named = there.values_list("pk", "content_type__app_label", "codename")
        group.permissions.add(*(pk for pk, *names in named if tuple(names) in wanted))
