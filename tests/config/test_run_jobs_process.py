"""The web server alone makes pictures, asked at /internal/run-jobs/, and may be killed at it."""

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from datetime import timedelta

import pytest
from django.db.models.functions import Now

from guides.models import SpotDetail, SpotImageJob
from jobs.models import Attempt, Chain, Worker
from tests.config.conftest import ROOT, free_port, server_environment
from tests.guides.conftest import save_guide
from tests.guides.gemini import NAME, all_ready, service
from tests.jobs.processes import wait_until

__all__ = ["service"]  # a fixture
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres]

SECRET = "known-to-this-test-alone-0123456789-abcdefghijk"


class Site:
    """gunicorn as docs/servers.md starts it, with one process."""

    def __init__(self, folder, **variables):
        self.port = free_port()
        told = {
            "ALLOWED_HOSTS": "127.0.0.1",
            "SITE_URL": f"http://127.0.0.1:{self.port}",
            "INTERNAL_SECRET": SECRET,
            "PICTURES_FOLDER": str(folder / "pictures"),
            "ANSWERS_FOLDER": str(folder / "answers"),
        }
        log = folder / "log"
        start = [sys.executable, "-m", "gunicorn", "--bind", f"127.0.0.1:{self.port}"]
        with log.open("wb") as stderr:
            self.process = subprocess.Popen(
                [*start, "--workers", "1"],
                cwd=ROOT,
                env={**server_environment(), **told, **variables},
                stderr=stderr,
                start_new_session=True,
            )
        while "Booting worker" not in log.read_text():
            assert self.process.poll() is None, log.read_text()
            time.sleep(0.05)

    def ask(self, query=""):
        connection = self.post(query)
        answer = connection.getresponse()
        told = json.loads(answer.read())
        connection.close()
        assert answer.status == 200, told
        return told

    def post(self, query):
        """Ask without waiting for the answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=90)
        headers = {"X-Internal-Secret": SECRET}
        connection.request("POST", f"/internal/run-jobs/{query}", headers=headers)
        return connection

    def kill(self):
        """As the kernel does it: without a word to its processes."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


@pytest.fixture
def start(tmp_path):
    started = []

    def start(**variables):
        started.append(Site(tmp_path, **variables))
        return started[-1]

    yield start
    for site in started:
        site.kill()


@pytest.mark.long
def test_the_chain_alone_paints_a_guide_of_ten_spots(start):
    save_guide(*(f"Spot {number}" for number in range(10)))
    site = start()

    told = site.ask("?chain=true&jobs=4")

    assert (told["succeeded"], told["chain"]) == (4, "continued")
    wait_until(all_ready)
    assert SpotDetail.objects.exclude(image_url="").count() == 10
    pictures = Attempt.objects.filter(kind="guides.SpotImageJob")
    assert list(pictures.values_list("outcome", flat=True)) == ["succeeded"] * 10
    wait_until(lambda: Chain.objects.filter(token="").exists())  # and then it ends
    assert Worker.objects.filter(way__endswith="(chain)").count() >= 2


@pytest.mark.long
def test_a_server_that_is_killed_at_work_loses_nothing(start):
    save_guide("Gate", "Pond")
    site = start(PAINTER_SECONDS="600")
    asked = site.post("?chain=true")
    wait_until(lambda: SpotImageJob.objects.processing().count() == 2)

    site.kill()
    asked.close()
    past = Now() - timedelta(minutes=2)
    for leases in (SpotImageJob.objects.processing(), Worker.objects.all()):
        leases.update(lease_expires_at=past)
    site = start()
    site.ask("?chain=true")

    wait_until(lambda: hurried() and all_ready())
    assert set(SpotImageJob.objects.values_list("attempts", flat=True)) == {0}


def hurried():
    """What was rescued comes back after a while: let it come at once."""
    return SpotImageJob.objects.filter(status="queued").update(run_after=Now()) >= 0


def test_no_call_is_begun_whose_timeout_does_not_fit(start, service):
    """A picture takes half a second here, but its provider may take 25."""
    save_guide("Kinkaku-ji")
    service.delay = 0.5
    told = {
        name: value for name, value in os.environ.items() if name.startswith(("GEMINI", "IMAGE"))
    }
    site = start(**told)

    answer = site.ask("?seconds=20")

    assert (answer["more"], answer["too_slow"]) == (False, [NAME])
    assert service.ledger == []
    assert SpotImageJob.objects.get().epoch == 0

    answer = site.ask("?seconds=40")

    assert (answer["more"], answer["too_slow"]) == (False, [])
    assert len(service.paid) == 1
    assert all_ready()
