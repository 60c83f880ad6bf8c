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


def sessions():
    """How many connections the worker has, and how many of them linger in a transaction."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*), count(*) FILTER (WHERE state LIKE 'idle in transaction%'"
            " AND state_change < clock_timestamp() - interval '300 milliseconds')"
            " FROM pg_stat_activity WHERE datname = current_database()"
            " AND application_name = 'worker under test'"
        )
        return cursor.fetchone()


def test_64_waiting_jobs_share_six_connections_and_hold_no_transaction(start):
    ids = enqueue_chores(64, seconds=3, script="query_then_wait")
    start(slots=64, lease=4)
    wait_until(lambda: count_processing() == 64)

    seen = [sessions()]
    while not count_effects():
        seen.append(sessions())
    wait_until(all_ended_in_time)

    assert 3 <= max(count for count, _ in seen) <= 6
    assert {lingering for _, lingering in seen} == {0}
    assert_each_done_once(ids)
