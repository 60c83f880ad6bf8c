"""Settings of job tables that Django's models can't express."""

from typing import Any

from django.apps import AppConfig
from django.db import connections
from django.db.models import Model

from jobs.models import Attempt, Job

SETTINGS: dict[type[Model], str] = {
    Job: "fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02,"
    " autovacuum_analyze_scale_factor = 0.02",
    # Rows are only inserted. Counts of vacuumed rows need the index only.
    Attempt: "autovacuum_vacuum_insert_scale_factor = 0.01",
}


def tune(sender: AppConfig, using: str, **_: Any) -> None:
    """Leave room on the pages of job tables, and have them vacuumed often.

    Every job is updated a few times. With room on its page, a beat touches no index (HOT).
    By default, vacuum waits until a fifth of the table is dead: too late for a queue.
    """
    connection = connections[using]
    if connection.vendor != "postgresql":
        return
    for model in sender.get_models():
        for base, settings in SETTINGS.items():
            if issubclass(model, base):
                table = connection.ops.quote_name(model._meta.db_table)
                with connection.cursor() as cursor:
                    cursor.execute(f"ALTER TABLE IF EXISTS {table} SET ({settings})")
