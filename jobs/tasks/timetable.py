"""The schedules that tasks declare, as schedules of TaskJob."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from jobs.schedules import Cron
from jobs.tasks import declared


def schedules() -> Iterator[Any]:
    """What every task declares; a wrong one stays as it is, for `manage.py check` to refuse."""
    for path, schedule in declared.scheduled():
        for each in schedule if isinstance(schedule, list | tuple) else [schedule]:
            cron = Cron(each) if isinstance(each, str) else each
            yield _of_task(path, cron) if isinstance(cron, Cron) else cron


def _of_task(path: str, cron: Cron) -> Cron:
    arguments = {"task": path, "kwargs": dict(cron.arguments)}
    return replace(cron, name=cron.name or path, arguments=arguments)
