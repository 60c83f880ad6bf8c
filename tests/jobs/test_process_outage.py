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

LEASE = 20  # after an outage, a worker rescues nothing for half a lease


def test_results_that_came_during_an_outage_longer_than_the_lease_are_kept(cluster, start):
    ids = enqueue_chores(4, script="sign")
    worker = start(lease=LEASE, gate=True)
    wait_until(lambda: count_begun() == 4)
    rescuer = start(lease=LEASE)
    wait_until(lambda: rescuer.is_listed)

    both = (worker, rescuer)
    for each in both:
        each.pause()
    worker.expire()  # so the outage is longer than what is left of its leases
    crash(cluster)
    for each in both:
        each.resume()
    worker.open_gate()
    for each in both:
        wait_until(lambda each=each: "The database can't be used" in each.log)
    cluster.start()
    wait_until(all_ended)

    assert_each_done_once(ids)
    assert set(Attempt.objects.values_list("outcome", flat=True)) == {"succeeded"}
    assert set(Chore.objects.values_list("attempts", "interruptions")) == {(0, 0)}
