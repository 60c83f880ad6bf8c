"""docs/api.md shows what the API really says."""

import json
import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.db.models import F

from guides.models import SpotImageJob
from jobs import queue
from jobs.models import Attempt, Outcome
from jobs.queue.outcomes import End
from tests.guides.history import have_worker, remember
from tests.guides.painting import perform

pytestmark = pytest.mark.django_db

PAGE = (Path(__file__).parents[2] / "docs" / "api.md").read_text()
SITE = "127.0.0.1:8000"
TOKEN = "0123456789abcdef0123456789abcdef"


@pytest.fixture
def send(client, settings):
    """Send a guide as the page does."""
    settings.ALLOWED_HOSTS, settings.API_TOKEN = ["127.0.0.1"], TOKEN

    def send(body):
        headers = {"Authorization": f"Bearer {TOKEN}", "Host": SITE}
        return client.post("/api/guides/", body, "application/json", headers=headers)

    return send


def block(start):
    """The example that begins with this."""
    return re.search(rf"```\w+\n({re.escape(start)}.*?)```", PAGE, re.DOTALL)[1]


SEND = block(f'curl http://{SITE}/api/guides/ -H "Authorization: Bearer $API_TOKEN"')
GUIDE = SEND.partition("-d '")[2].rpartition("'")[0]


def test_a_guide_is_handed_over_as_the_page_says(send):
    answer = send(GUIDE)

    assert answer.status_code == 201
    assert answer.json() == json.loads(block('{"plan_id"'))


def test_the_status_of_that_guide_is_as_the_page_says(send, client, pictures):
    send(GUIDE)
    [first] = queue.claim(SpotImageJob, 1, "w", timedelta(minutes=1))
    queue.settle([End(first, Outcome.SUCCEEDED, result=perform(first))])
    remember(3)
    Attempt.objects.update(started_at=F("ended_at") - timedelta(seconds=14))
    have_worker()

    answer = client.get("/api/guides/kyoto/status/", headers={"Host": SITE}, SERVER_PORT="8000")

    assert block(f"curl -i http://{SITE}/api/guides/kyoto/status/")
    etag, shown = block("ETag").removeprefix("ETag: ").split("\n\n", 1)
    assert shorten(answer.json()) == json.loads(shown)
    assert len(answer.headers["ETag"]) == len(etag)


def shorten(status):
    """Number the spots from 1, and cut the names of files as the page does."""
    for n, spot in enumerate(status["spots"], 1):
        spot["id"] = n
    name = re.search(r"/pictures/([0-9a-f…]+)/", PAGE)[1]
    return json.loads(re.sub(r"[0-9a-f]{64}", name, json.dumps(status)))


def test_an_event_is_told_as_the_page_says(send, client):
    start = f'curl http://{SITE}/api/events/ -H "Authorization: Bearer $API_TOKEN"'
    body = block(start).partition("-d '")[2].rpartition("'")[0]
    headers = {"Authorization": f"Bearer {TOKEN}", "Host": SITE}

    answer = client.post("/api/events/", body, "application/json", headers=headers)

    shown = json.loads(block('{"id": "0198c0de-7a31-7c6e-8a53-1f0e4d2b9a78", "result"'))
    assert answer.status_code == 201
    assert answer.json().keys() == shown.keys()
    of_the_moment = {name: answer.json()[name] for name in ("id", "recorded")}
    assert answer.json() == shown | of_the_moment


def test_faults_are_told_as_the_page_says(send):
    wrong = json.loads(GUIDE) | {"title": "", "spots": [{"name": "Gate"}, {"name": "Gate"}]}

    answer = send(wrong)

    assert answer.status_code == 400
    assert answer.json() == json.loads(block('{"error"'))
