import pytest
from django.db import connection

from tests.jobs import processes
from tests.jobs.processes import (
    all_ended,
    assert_each_done_once,
    count_begun,
    enqueue_chores,
    wait_until,
)

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres]
start = processes.start


def count_sessions(condition="true"):
    """Count the worker's connections, or those that meet a condition."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT count(*) FROM pg_stat_activity WHERE ({condition})"
            " AND datname = current_database() AND application_name = 'worker under test'"
        )
        return cursor.fetchone()[0]


def test_64_waiting_jobs_share_six_connections_and_hold_no_transaction(start):
    ids = enqueue_chores(64, script="query_then_wait")
    worker = start(slots=64, gate=True)
    seen = []

    def have_all_begun():
        seen.append(count_sessions())
        return count_begun() == 64

    wait_until(have_all_begun)
    wait_until(lambda: worker.is_listed)  # it has beaten, on a connection of its own
    # If a waiting job held a transaction, this would never become true.
    wait_until(lambda: count_sessions("state LIKE 'idle in transaction%'") == 0)
    wait_until(lambda: count_sessions() >= 3)  # it claims, beats and listens
    seen.append(count_sessions())
    worker.open_gate()
    wait_until(all_ended)

    assert max(seen) <= 6
    assert_each_done_once(ids)
