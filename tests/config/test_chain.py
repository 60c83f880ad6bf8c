"""A chain of requests to /internal/run-jobs/: each calls the next, and the site has one chain."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest
from django.db.models import F
from django.db.models.functions import Now

from config import next_request
from jobs.errors import Snooze
from jobs.models import Chain, Status, Worker
from jobs.worker import chain
from tests.config.asking import SECRET, ask, opened
from tests.jobs.conftest import in_another_thread
from tests.jobs.processes import (
    all_ended,
    assert_each_done_once,
    enqueue_chores,
    statuses,
    wait_until,
)
from tests.testapp.models import Chore

__all__ = ["opened"]  # a fixture
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("opened")]

CHAIN = "/internal/run-jobs/ (chain)"
GOES_ON = ("continued", "sent")  # on a busy machine the next request may begin late


@pytest.fixture
def site(settings, live_server):
    """This site, which can call itself."""
    settings.SITE_URL = live_server.url
    yield live_server
    wait_until(lambda: not Chain.objects.filter(expires_at__gt=Now()).exists())
    wait_until(lambda: not Worker.objects.alive().exists())


def links():
    return Worker.objects.filter(way=CHAIN)


def test_a_chain_does_what_one_request_could_not(site):
    ids = enqueue_chores(7)

    told = ask("?chain=true&jobs=2").json()

    assert told["claimed"] == 2
    assert told["chain"] in GOES_ON
    wait_until(all_ended)
    assert_each_done_once(ids)
    wait_until(lambda: links().filter(ended_at__isnull=False).count() == 3)


@pytest.mark.long
def test_a_chain_waits_for_a_job_that_is_due_soon(site):
    enqueue_chores(1, run_after=Now() + timedelta(seconds=12))

    told = ask("?chain=true&seconds=20").json()

    assert (told["claimed"], told["more"]) == (0, False)
    assert told["chain"] in GOES_ON
    wait_until(lambda: statuses() == {Status.SUCCEEDED: 1})


def test_a_chain_ends_when_the_next_job_is_due_much_later(site):
    enqueue_chores(1)
    enqueue_chores(1, run_after=Now() + timedelta(minutes=5))

    told = ask("?chain=true").json()

    assert (told["succeeded"], told["more"], told["chain"]) == (1, False, "ended")
    assert not links().exists()


@pytest.mark.long
def test_jobs_that_only_snooze_do_not_keep_a_chain_alive(site, monkeypatch):
    enqueue_chores(1, script="snooze")
    seen = []

    def snooze(self, run):
        seen.append(run.epoch)
        raise Snooze(1)

    monkeypatch.setattr(Chore, "do_snooze", snooze)

    assert ask("?chain=true&seconds=2").json()["chain"] in GOES_ON

    wait_until(lambda: Chain.objects.filter(idle=chain.MOST_IDLE, token="").exists())
    assert links().filter(ended_at__isnull=False).count() == chain.MOST_IDLE - 1
    assert seen


# One chain


def test_however_many_begin_a_chain_there_is_one():
    with ThreadPoolExecutor() as pool:
        begun = list(pool.map(in_another_thread, [partial(chain.begin, 5)] * 8))

    assert len([token for token in begun if token]) == 1


def test_a_request_that_arrives_twice_is_answered_once(settings, site):
    enqueue_chores(1)
    token = chain.begin(5)
    header = {next_request.LINK: token}

    first, again = ask("?chain=true", **header).json(), ask("?chain=true", **header).json()

    assert (first["claimed"], first["chain"]) == (1, "ended")
    assert (again["claimed"], again["chain"]) == (0, "gone")


def test_while_a_chain_lives_another_request_works_without_a_second_one(site):
    enqueue_chores(3)
    token = chain.begin(5)

    told = ask("?chain=true&jobs=1").json()

    assert (told["claimed"], told["more"], told["chain"]) == (1, True, "elsewhere")
    chain.end(token)


def test_a_chain_that_died_makes_room_for_another():
    dead = chain.begin(5)
    assert chain.begin(5) is None

    Chain.objects.update(expires_at=Now() - timedelta(seconds=1))

    assert chain.begin(5)
    # If it was only frozen, it learns that the chain is no longer its own.
    assert not chain.may_go_on(dead, is_idle=False)
    assert chain.go_on(dead, 5) is None


def test_a_killed_chain_ends_by_the_database_s_clock():
    chain.begin(seconds=28)

    [left] = Chain.objects.annotate(left=F("expires_at") - Now()).values_list("left", flat=True)

    assert timedelta(0) < left <= timedelta(seconds=28 + chain.SLACK)


# Calling itself


class Stranger(BaseHTTPRequestHandler):
    """Another server at this site's address: it redirects, or claims that all is well."""

    status = 301
    secrets: list[str] = []

    def do_POST(self):
        self.secrets.append(self.headers["X-Internal-Secret"])
        self.send_response(self.status)
        self.send_header("Location", f"http://127.0.0.1:{self.server.server_port}/elsewhere")
        self.end_headers()

    def log_message(self, *args): ...


@pytest.fixture
def stranger(settings):
    Stranger.secrets = []
    with HTTPServer(("127.0.0.1", 0), Stranger) as server:
        thread = Thread(target=server.serve_forever, args=[0.02])
        thread.start()
        settings.SITE_URL = f"http://127.0.0.1:{server.server_port}"
        yield server
        server.shutdown()
        thread.join()


@pytest.mark.few(1)
@pytest.mark.parametrize("status", [200, 301])
def test_an_address_that_is_not_this_site_ends_the_chain(stranger, status, monkeypatch, caplog):
    monkeypatch.setattr(Stranger, "status", status)
    enqueue_chores(2)

    told = ask("?chain=true&jobs=1").json()

    assert (told["claimed"], told["chain"]) == (1, "broken")
    assert Stranger.secrets == [SECRET]  # a redirect is not followed
    assert f"it answered with {status} at once. Is SITE_URL right?" in caplog.text
    assert SECRET not in caplog.text
    assert chain.begin(5)  # the next request may begin a chain


def test_a_site_that_can_not_be_reached_ends_the_chain():
    enqueue_chores(2)

    assert ask("?chain=true&jobs=1").json()["chain"] == "broken"
    assert chain.begin(5)


def test_the_host_that_a_client_names_is_never_called(site, settings):
    settings.ALLOWED_HOSTS = ["*"]
    enqueue_chores(2)

    told = ask("?chain=true&jobs=1", Host="127.0.0.1:9").json()

    assert told["chain"] in GOES_ON
    wait_until(all_ended)
