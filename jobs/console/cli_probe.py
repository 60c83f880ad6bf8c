"""What `manage.py jobs status --probe` answers: one word, for a supervisor that asks often.

Most of what needs a person needs no restart, so here only what stops all work counts.
"""

from datetime import timedelta

from django.db import Error

from jobs.console import figures, needs
from jobs.console.cli_groups import Printed
from jobs.db import sessions
from jobs.db.sessions import Patience

WELL, NO_DATABASE, NO_WORKER = "ok", "database", "no_worker"
PATIENCE = Patience(locks=timedelta(seconds=1), statements=timedelta(seconds=5))


def answer() -> Printed:
    word = look()
    return Printed({"status": word}, [word], is_well=word == WELL)


def look() -> str:
    try:
        with sessions.short_reading(PATIENCE):
            return WELL if figures.fleet().working or not is_work_left() else NO_WORKER
    except Error:
        return NO_DATABASE


def is_work_left() -> bool:
    """Without work, no worker is needed: cron may start one from time to time."""
    found = needs.needs(needs.Situation.look())
    return any(need.kind == NO_WORKER for need in found)
