import pytest
from django.db import connection

from tests.jobs import processes
from tests.jobs.processes import (
    all_ended_in_time,
    assert_each_done_once,
    count_effects,
    count_processing,
    enqueue_chores,
    wait_until,
)

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres]
start = processes.start


def sessions_of_others():
    """How many connections there are besides ours, and how many of them linger in a transaction."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*), count(*) FILTER (WHERE state LIKE 'idle in transaction%'"
            " AND state_change < clock_timestamp() - interval '300 milliseconds')"
            " FROM pg_stat_activity WHERE datname = current_database()"
            " AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )
        return cursor.fetchone()


def test_64_waiting_jobs_share_six_connections_and_hold_no_transaction(start):
    ids = enqueue_chores(64, seconds=3, script="query_then_wait")
    start(slots=64, lease=4)
    wait_until(lambda: count_processing() == 64)

    seen = [sessions_of_others()]
    while not count_effects():
        seen.append(sessions_of_others())
    wait_until(all_ended_in_time)

    assert max(sessions for sessions, _ in seen) <= 6
    assert {lingering for _, lingering in seen} == {0}
    assert_each_done_once(ids)
