"""Work goes on within 5 s of a database being there, even if a dead host is asked first."""

import threading

import pytest
from psycopg_pool import ConnectionPool

from config.databases import tune
from config.embedded.server import NAME, PORT, USER
from jobs.db import sessions
from jobs.worker import outage
from jobs.worker.outage import Outage
from tests.jobs import databases
from tests.jobs.processes import wait_until

RESUME_SECONDS = 5
cluster = databases.cluster


def test_the_longest_wait_and_a_dead_host_together_take_less_than_that():
    [options] = [tune({"ENGINE": "django.db.backends.postgresql", "NAME": "x"})["OPTIONS"]]
    seen = Outage()

    waits = [seen.note(OSError("no route")) - outage.time.monotonic() for _ in range(50)]

    assert waits[0] <= 0
    assert max(waits) + options["connect_timeout"] <= RESUME_SECONDS
    assert sessions.RECONNECT_SECONDS + options["connect_timeout"] <= RESUME_SECONDS


def test_the_url_may_say_otherwise():
    database = {"ENGINE": "django.db.backends.postgresql", "NAME": "x"}

    options = tune({**database, "OPTIONS": {"connect_timeout": 9}})["OPTIONS"]

    assert options["connect_timeout"] == 9
    assert options["keepalives_idle"] == 10


@pytest.mark.long
@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_a_thread_that_waits_for_a_connection_gets_one_when_the_database_is_back(cluster):
    """The pool gives up every second, and tries again as long as somebody waits."""
    cluster.stop()
    given_up, got = [], []

    def count(pool):
        given_up.append(pool)
        sessions.keep_connecting(pool)

    address = {"host": str(cluster.sockets), "port": PORT, "user": USER, "dbname": NAME}
    options = sessions.POOL | {"reconnect_failed": count}
    with ConnectionPool(kwargs=address, open=True, **options) as pool:
        thread = threading.Thread(target=lambda: got.append(pool.getconn(timeout=90)))
        thread.start()
        wait_until(lambda: len(given_up) >= 2)
        cluster.start()
        thread.join()
        pool.putconn(*got)
