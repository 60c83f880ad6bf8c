"""Behind PgBouncer in transaction mode, workers and console share three sessions of PostgreSQL."""

import os

import pytest
from django.contrib import admin
from django.db import connection
from django.urls import reverse

from jobs.models import Status
from tests.jobs import pooler as poolers
from tests.jobs import processes
from tests.jobs.console.pages import in_state, log_in, press, statuses
from tests.jobs.databases import using
from tests.jobs.pooler import SERVER_SESSIONS
from tests.jobs.processes import (
    assert_each_done_once,
    count_effects,
    enqueue_chores,
    prelude,
    wait_until,
    wait_until_all_ended_in_time,
)
from tests.testapp.models import Chore

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres]
pooler, start = poolers.pooler, processes.start

COUNT = int(os.environ.get("STORM", "200"))  # jobs
DEAF = "LISTEN has no effect"
ECHO = prelude("from jobs.queue import wakeup; wakeup.ECHO_SECONDS = 0.5")


def test_three_workers_behind_a_pooler_do_every_job_once_and_leave_nothing_behind(pooler, start):
    ids = enqueue_chores(COUNT // 2, 0.05) + enqueue_chores(COUNT // 2, 0.05, "query_then_wait")
    workers = [start(url=pooler.url, lease=8, before=ECHO) for _ in range(3)]

    wait_until(lambda: count_effects() > COUNT // 4)
    left_behind = what_sessions_keep(pooler)
    wait_until_all_ended_in_time()

    assert_each_done_once(ids)
    assert set(Chore.objects.values_list("attempts", "interruptions")) == {(0, 0)}
    assert left_behind == what_sessions_keep(pooler) == set()
    for worker in workers:
        wait_until(lambda worker=worker: DEAF in worker.log)
        assert worker.log.count(DEAF) == 1


def what_sessions_keep(pooler):
    """What another client would inherit, of all sessions that the pooler has."""
    found = set()
    clients = [pooler.connect() for _ in range(SERVER_SESSIONS)]
    try:
        for client in clients:  # each holds its transaction, so each has another session
            found |= set(client.execute(KEPT).fetchall())
    finally:
        for client in clients:
            client.rollback()
            client.close()
    return found


# PgBouncer itself sets what every client says at its start: encoding, time zone and name.
KEPT = """
SELECT 'setting', name FROM pg_settings WHERE source = 'session'
  AND name NOT IN ('client_encoding', 'TimeZone', 'DateStyle', 'application_name',
                   'standard_conforming_strings')
UNION SELECT 'statement', name FROM pg_prepared_statements
UNION SELECT 'cursor', name FROM pg_cursors WHERE is_holdable
UNION SELECT 'listens to', channel FROM pg_listening_channels() channel WHERE channel = 'jobs'
UNION SELECT 'lock', mode FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()
UNION SELECT 'table', relname FROM pg_class WHERE relpersistence = 't'
"""


@pytest.mark.long
def test_the_console_works_behind_a_pooler(pooler, client):
    jobs = in_state(Status.FAILED, "sweep")

    with using(pooler.url):
        operator = log_in(client, "operators")
        for model in admin.site._registry:
            if model._meta.app_label in ("jobs", "testapp"):
                page = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
                assert operator.get(page).status_code == 200, page
        for page in (
            reverse("admin:index"),
            reverse("admin:testapp_chore_change", args=[jobs[0].id]),
        ):
            assert operator.get(page).status_code == 200, page
        press(operator, "requeue", jobs[0])
        connection.close()

    assert statuses() == {"sweep": Status.QUEUED}
    assert what_sessions_keep(pooler) == set()
