"""Groups of people: viewers see, operators act. Made after `migrate`, when permissions exist."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.apps import AppConfig
from django.contrib.auth.models import Group, Permission
from django.db.models import Model

from jobs.models import Attempt, Call, Job, Provider, Worker

VIEWERS, OPERATORS = "viewers", "operators"
Grants = Mapping[type[Model], Iterable[str]]

OPERATE: Grants = {
    Job: ("view", "change", "delete"),
    Provider: ("view", "change"),
    Worker: ("view", "change"),
    Call: ("view", "change"),
    Attempt: ("view",),
}


def make_groups(sender: AppConfig, using: str, **_: Any) -> None:
    """Let the groups see, and act on, what an app has for them."""
    acts = {
        model: verbs
        for model in sender.get_models()
        for base, verbs in OPERATE.items()
        if issubclass(model, base)
    }
    grant(OPERATORS, acts, using)
    grant(VIEWERS, dict.fromkeys(acts, ("view",)), using)


def grant(name: str, grants: Grants, using: str) -> None:
    """Give a group its permissions, once: what somebody took away later stays away."""
    if not grants:
        return
    group, _ = Group.objects.using(using).get_or_create(name=name)
    held = set(group.permissions.values_list("content_type__app_label", "content_type__model"))
    new = [
        f"{verb}_{model._meta.model_name}"
        for model, verbs in grants.items()
        if (model._meta.app_label, model._meta.model_name) not in held
        for verb in verbs
    ]
    apps = {model._meta.app_label for model in grants}
    known = Permission.objects.using(using).filter(content_type__app_label__in=apps)
    if new:
        group.permissions.add(*known.filter(codename__in=new))
