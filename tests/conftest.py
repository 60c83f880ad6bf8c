import fcntl
import gc
import os
import pickle
import random
import sys
import tempfile
import threading
from collections import defaultdict
from types import SimpleNamespace

import hypothesis
import pytest
from django.conf import settings
from django.core.files.storage import storages
from django.db import connection
from django.utils import translation
from hypothesis import HealthCheck

from config import kept
from config.doors import visitors
from guides import images, painter
from jobs.db import sessions
from jobs.models import Schedule
from tests import template
from tests.jobs.console.pages import log_in

# A busy machine is no fault: no example and no drawing of one has a time limit.
patient = hypothesis.settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
hypothesis.settings.register_profile("patient", patient)
hypothesis.settings.register_profile("long", patient, max_examples=500)
hypothesis.settings.load_profile("patient")
pytest_plugins = ["tests.browser.visitor"]
in_use = pytest.StashKey[int]()
MEMORY = "/dev/shm"
NEEDS_DATABASE = {"db", "transactional_db", "live_server"}


def pytest_addoption(parser):
    parser.addoption("--long", action="store_true", help="run what `make test` leaves out, too")
    parser.addoption("--order", type=int, help="run the tests in another order, by this number")


def pytest_configure(config):
    """Hold the test cluster, shared with other runs at the same time."""
    if is_controller(config):
        if os.access(MEMORY, os.W_OK):
            # A fifth of the time went into finding free places for small files on the disk.
            os.environ.setdefault("TMPDIR", MEMORY)
            tempfile.tempdir = None  # chosen anew
        settings.TEST_CLUSTER.folder.mkdir(mode=0o700, exist_ok=True)
        config.stash[in_use] = os.open(
            settings.TEST_CLUSTER.folder / "in-use", os.O_RDWR | os.O_CREAT, 0o600
        )
        fcntl.flock(config.stash[in_use], fcntl.LOCK_SH)


def pytest_unconfigure(config):
    """Stop the test cluster, unless another run still holds it."""
    if is_controller(config):
        template.drop()
        try:
            fcntl.flock(config.stash[in_use], fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        settings.TEST_CLUSTER.stop()


def is_controller(config):
    return not hasattr(config, "workerinput")


def pytest_collection_finish():
    """Everything loaded so far is never garbage: a seventh of the time went into scanning it."""
    gc.freeze()
    gc.set_threshold(10_000)


def pytest_collection_modifyitems(config, items):
    left_out = set()
    if connection.vendor != "postgresql":
        left_out |= {item for item in items if says_nothing_of_sqlite(item)}
    if not config.option.long:
        left_out |= {item for item in items if item.get_closest_marker("long")}
        left_out |= set(all_but_few(items))
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]
    if config.option.order is not None:
        shuffle(items, random.Random(config.option.order))


def shuffle(items, chance):
    """Shuffle the files, and the tests of each: its fixtures are still made once."""
    place = defaultdict(chance.random)
    items.sort(key=lambda item: (place[item.path], place[item.nodeid]))


def says_nothing_of_sqlite(item):
    """Whether PostgreSQL alone can say it, or no database has a part in it."""
    return item.get_closest_marker("postgres") or not uses_database(item)


def all_but_few(items):
    """Of a test's variants, those that `few` leaves out; it keeps its number, evenly spread."""
    variants = defaultdict(list)
    for item in items:
        if mark := item.get_closest_marker("few"):
            variants[item.parent.nodeid, item.originalname, mark.args[0]].append(item)
    for (*_, most), alike in variants.items():
        kept = {round(n * (len(alike) - 1) / max(most - 1, 1)) for n in range(most)}
        yield from (item for n, item in enumerate(alike) if n not in kept)


def uses_database(item):
    """Whether pytest-django lets the test use the database; else it says the same on any."""
    return item.get_closest_marker("django_db") or not NEEDS_DATABASE.isdisjoint(item.fixturenames)


def remembered(act, answers):
    """An act that always gives the same answer for the same question, asked once per run."""

    def ask(*question):
        key = act.__name__, pickle.dumps(question)
        if key not in answers:
            answers[key] = act(*question)
        return answers[key]

    return ask


@pytest.fixture
def is_long(pytestconfig):
    """Whether this is `make test-long`, which may try everything."""
    return pytestconfig.option.long


@pytest.fixture(scope="session")
def coarse_pictures():
    return {}


@pytest.fixture
def coarse(monkeypatch, coarse_pictures):
    """Paint without smooth edges, and each picture once per run: for tests of anything else."""
    for name, module in list(sys.modules.items()):
        if name.startswith("guides.painter") and hasattr(module, "FINE"):
            monkeypatch.setattr(module, "FINE", 1)
    monkeypatch.setattr(painter, "paint", remembered(painter.paint, coarse_pictures))
    monkeypatch.setattr(images, "decode", remembered(images.decode, coarse_pictures))


@pytest.fixture
def pictures(settings, tmp_path, coarse):
    """A folder for this test's pictures; the painter does not wait."""
    folders = {
        "pictures": {"location": tmp_path, "base_url": "/"},
        "answers": {"location": tmp_path / "answers"},
    }
    settings.STORAGES = settings.STORAGES | {
        alias: {"BACKEND": "jobs.storage.Folder", "OPTIONS": options}
        for alias, options in folders.items()
    }
    settings.PAINTER_SECONDS = 0
    return storages["pictures"]


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings, pytestconfig, django_db_blocker):
    if not is_controller(pytestconfig):
        with django_db_blocker.unblock():
            template.use()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup, django_db_blocker):
    """Remove the schedules that `migrate` declared: no test's worker should enqueue their runs."""
    with django_db_blocker.unblock():
        Schedule.objects.all().delete()
    yield
    with django_db_blocker.unblock():
        template.end_other_sessions()


@pytest.fixture(scope="session", autouse=True)
def give_back():
    """The real act, for tests of it. In others the main thread keeps its connection.

    A worker gives it back to a pool. Tests have none: each would connect ten times, and
    PostgreSQL starts a process each time.
    """
    real = sessions.give_back

    def keep():
        if threading.current_thread() is not threading.main_thread():
            real()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sessions, "give_back", keep)
        yield real


@pytest.fixture
def page_clock(monkeypatch):
    """The clock by which kept pages go out of date; it stands still until a test moves it."""
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr("config.kept.monotonic", lambda: clock.now)
    return clock


@pytest.fixture
def operator(client):
    """A browser in which an operator is logged in."""
    return log_in(client, "operators")


@pytest.fixture
def viewer(client):
    return log_in(client, "viewers")


@pytest.fixture(autouse=True)
def english():
    """English, even if another test's request left another language active."""
    with translation.override("en"):
        yield


@pytest.fixture(autouse=True)
def no_visits(monkeypatch):
    """Forget the requests of other tests: all of them come from one address."""
    monkeypatch.setattr("config.doors.visitors.visits", visitors.Visits())


@pytest.fixture(autouse=True)
def no_kept_pages(monkeypatch):
    """Forget the pages of other tests, whose databases may count their rows alike."""
    monkeypatch.setattr("config.kept.memory", kept.Memory())
