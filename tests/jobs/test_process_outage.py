import time

import pytest

from jobs.models import Attempt
from tests.jobs import databases, processes
from tests.jobs.databases import crash
from tests.jobs.processes import (
    all_ended,
    assert_each_done_once,
    count_begun,
    enqueue_chores,
    wait_until,
)
from tests.testapp.models import Chore

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres]
start = processes.start
cluster = databases.cluster

LEASE = 12


def test_results_that_came_during_an_outage_longer_than_the_lease_are_kept(cluster, start):
    ids = enqueue_chores(4, seconds=2, script="sign")
    start(lease=LEASE, slots=4)
    wait_until(lambda: count_begun() == 4)
    rescuer = start(lease=LEASE, slots=4)
    wait_until(lambda: rescuer.is_listed)

    crash(cluster)
    time.sleep(1.2 * LEASE)  # until all jobs are performed and all leases have ended
    cluster.start()
    wait_until(all_ended)

    assert_each_done_once(ids)
    assert set(Attempt.objects.values_list("outcome", flat=True)) == {"succeeded"}
    assert set(Chore.objects.values_list("attempts", "interruptions")) == {(0, 0)}
