"""Three databases with a worker each, on one machine: no worker meets the jobs of another."""

import os
import random
import re
import time
from contextlib import contextmanager

import pytest
from django.db import connection, connections

from jobs.models import Attempt, Worker
from tests.jobs import processes
from tests.jobs.processes import (
    assert_each_done_once,
    enqueue_chores,
    statuses,
    url_of,
    wait_until,
    wait_until_all_ended_in_time,
)
from tests.testapp.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)
start = processes.start

KILLS = int(os.environ.get("KILLS", 1))  # in each database
NAMES = ("tokyo", "osaka", "kyoto_2")


class Site:
    """A database of its own, and the one worker that serves it."""

    def __init__(self, name, database, start):
        self.name, self.database, self.start = name, database, start
        self.jobs = []
        self.workers = []

    @contextmanager
    def entered(self):
        """Let this process use the site's database instead of the test's own."""
        usual = connections["default"]
        own = usual.settings_dict | {"NAME": self.database}
        connections["default"] = type(usual)(own, "default")
        try:
            yield
        finally:
            connections["default"].close()
            connections["default"] = usual

    def work(self, variables):
        self.workers.append(self.start(lease=8, variables={**variables, "DATABASE": self.name}))

    def save_jobs(self):
        with self.entered():
            self.jobs += enqueue_chores(10, seconds=0.05) + enqueue_chores(15, seconds=0.2)

    def kill(self, after):
        """Kill the worker a while after it has begun to work."""
        worker = self.workers[-1]
        with self.entered():
            wait_until(worker.jobs.exists)
            time.sleep(after)
            worker.kill()
            worker.expire()

    @property
    def pids(self):
        return {str(worker.process.pid) for worker in self.workers}


@pytest.fixture
def sites(start, tmp_path):
    """Copies of the test's empty database, which other databases of the server don't know."""
    found = [Site(name, copy(name, tmp_path), start) for name in NAMES]
    yield found
    for site in found:
        for worker in site.workers:
            worker.kill()
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            for site in found:
                cursor.execute(f'DROP DATABASE "{site.database}" WITH (FORCE)')


def copy(name, folder):
    original = connection.settings_dict["NAME"]
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM INTO %s", [str(folder / f"{name}.db")])
        return str(folder / f"{name}.db")

    def make():
        connection.close()  # a database in use can't be copied
        with connection._nodb_cursor() as cursor:
            cursor.execute(f'CREATE DATABASE "{original}_{name}" TEMPLATE "{original}"')
        return f"{original}_{name}"

    return wait_until(make)


@pytest.mark.long
@pytest.mark.search
def test_workers_of_three_databases_killed_at_random_keep_to_their_own(sites):
    seed = random.getrandbits(32)
    print(f"chance = random.Random({seed})")
    chance = random.Random(seed)
    variables = {f"DATABASES_{site.name.upper()}_URL": url_of(site.database) for site in sites}
    for site in sites:
        site.work(variables)

    for _kill in range(KILLS):
        for site in sites:
            site.save_jobs()
        for site in chance.sample(sites, len(sites)):
            site.kill(after=chance.uniform(0, 0.3))
            site.work(variables)
        for site in sites:
            with site.entered():
                wait_until_all_ended_in_time()

    for site in sites:
        with site.entered():
            assert_each_done_once(site.jobs)
            assert pids_of(Attempt.objects.values_list("worker", flat=True)) <= site.pids
            assert pids_of(Worker.objects.values_list("name", flat=True)) <= site.pids
        assert f"started on {site.name}: " in site.workers[0].log
    # The database of DATABASE_URL, which every worker knew.
    assert not statuses()
    assert not any(model.objects.exists() for model in (Attempt, Effect, Worker))


def pids_of(names):
    return {re.fullmatch(r".*:(\d+):\w+", name)[1] for name in names}
