import time

import pytest

from tests.jobs import patroni, processes
from tests.jobs.processes import (
    all_ended,
    assert_each_done_once,
    count_effects,
    enqueue_chores,
    wait_until,
)
from tests.testapp.models import Chore

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres]
cluster, start = patroni.cluster, processes.start


def test_no_job_is_lost_or_done_twice_when_patroni_chooses_another_primary(cluster, start, capsys):
    ids = enqueue_chores(120, 0.3, script="sign")
    workers = [start(url=cluster.url, lease=10) for _ in range(3)]
    wait_until(lambda: count_effects() > 12)

    cluster.lose_primary()
    since = time.monotonic()
    known = wait_until(lambda: count_effects() or -1)
    wait_until(lambda: count_effects() > known)
    with capsys.disabled():
        print(f"\nThe next result came {time.monotonic() - since:.1f} s after the promotion.")
    cluster.follow(cluster.standby)
    wait_until(all_ended)

    assert_each_done_once(ids)
    assert set(Chore.objects.values_list("attempts", flat=True)) == {0}
    for worker in workers:
        assert worker.log.count("The database can't be used") == 1
