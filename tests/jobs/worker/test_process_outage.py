import pytest

from jobs.models import Attempt
from tests.jobs import databases, processes
from tests.jobs.databases import crash
from tests.jobs.processes import (
    all_ended,
    assert_each_done_once,
    count_begun,
    count_effects,
    enqueue_chores,
    wait_until,
)
from tests.testapp.models import Chore

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres]
start = processes.start
cluster = databases.cluster

LEASE = 20  # after an outage, a worker rescues nothing for half a lease


@pytest.mark.long
def test_results_that_came_during_an_outage_longer_than_the_lease_are_kept(cluster, start):
    ids = enqueue_chores(8, script="sign")
    worker, rescuer = both = [start(lease=LEASE, slots=4, gate=True) for _ in range(2)]
    wait_until(lambda: count_begun() == 8 and worker.is_listed and rescuer.is_listed)

    for each in both:
        each.pause()
    worker.expire()  # so the outage is longer than what is left of its leases
    crash(cluster)
    for each in both:
        each.resume()
        each.open_gate()  # each has results that it can't write
    for each in both:
        wait_until(lambda each=each: "The database can't be used" in each.log)
    worker.pause()  # the other comes back first, and finds the ended leases
    cluster.start()
    wait_until(lambda: count_effects() == 4)
    worker.resume()
    wait_until(all_ended)

    assert_each_done_once(ids)
    assert set(Attempt.objects.values_list("outcome", flat=True)) == {"succeeded"}
    assert set(Chore.objects.values_list("attempts", "interruptions")) == {(0, 0)}
