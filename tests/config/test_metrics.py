"""/metrics, as Prometheus reads it."""

import pytest
from prometheus_client.parser import text_string_to_metric_families

from jobs.metrics import scraping
from jobs.metrics.families import FAMILIES
from jobs.models import Call, Provider, State, Status, uuid7
from tests.config.conftest import PRODUCTION, setting
from tests.jobs.conftest import SimulatedWorker, new_chore
from tests.jobs.console.pages import EVIL, in_state
from tests.jobs.metrics.conftest import unhurried  # noqa: F401 (for every test here)
from tests.testapp.models import Chore, Order

TOKEN = "0123456789-abcdefghijklmnopqrstuvwxyz"
NASTY = 'shop:"}\n# TYPE tabie_jobs counter\ntabie_jobs 7\\ 東京 \t{a="b"}'


@pytest.fixture(autouse=True)
def opened(settings, monkeypatch):
    """A site with a token, whose processes have read nothing yet."""
    settings.METRICS_TOKEN = TOKEN
    monkeypatch.setattr(scraping, "scraper", scraping.Scraper())


def ask(client, authorization=f"Bearer {TOKEN}"):
    return client.get("/metrics", headers={"Authorization": authorization})


def samples(answer):
    """What prometheus-client's own parser reads, by name and labels."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def labels(answer):
    return {value for _, pairs in samples(answer) for _, value in pairs}


@pytest.mark.django_db
def test_prometheus_can_read_every_family_with_its_type(client):
    answer = ask(client)

    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert answer.headers["Cache-Control"] == "no-store"
    found = {family.name: family.type for family in text_string_to_metric_families(answer.text)}
    assert found == {family.name: family.type for family in FAMILIES}


@pytest.mark.django_db
def test_the_numbers_arrive_as_they_were_read(client):
    in_state(Status.FAILED, "a", "b")
    new_chore("c")
    worker = SimulatedWorker("w")
    worker.succeed(worker.claim_one())

    found = samples(ask(client))

    kind = ("kind", "testapp.Chore")
    assert found["tabie_jobs", (kind, ("status", "failed"))] == 2
    assert found["tabie_attempts_total", (kind, ("outcome", "succeeded"))] == 1
    assert found["tabie_attempt_seconds_count", (kind, ("outcome", "succeeded"))] == 1
    assert found["tabie_attempt_seconds_sum", (kind, ("outcome", "succeeded"))] >= 0
    assert found["tabie_workers", ()] == 0
    assert found["tabie_scrape_failed", (("part", "calls"),)] == 0


@pytest.mark.django_db
def test_no_text_of_a_stranger_gets_in(client):
    new_chore(EVIL, last_error=EVIL, error_kind=EVIL, unique_key=EVIL)
    in_state(Status.FAILED, "failed")
    Chore.objects.update(last_error=EVIL, error_kind=EVIL)
    Provider.objects.create(name=EVIL, pause_reason=EVIL)
    facts = {"job_id": uuid7(), "kind": EVIL, "worker": EVIL, "key": EVIL[:60]}
    Call.objects.create(
        provider=EVIL, epoch=1, number=1, state=State.UNKNOWN, deadline="2026-01-01T00:00Z", **facts
    )

    answer = ask(client)

    assert "script" not in answer.text
    assert str(Chore.objects.first().pk) not in answer.text


@pytest.mark.django_db
def test_a_name_from_the_settings_is_quoted_whatever_is_in_it(client, monkeypatch):
    monkeypatch.setattr(Order, "provider", NASTY)
    Provider.objects.create(name=NASTY, paused=True)

    answer = ask(client)

    assert samples(answer)["tabie_provider_paused", (("provider", NASTY),)] == 1
    assert ("tabie_jobs", ()) not in samples(answer)


@pytest.mark.django_db
def test_the_page_is_missing_without_a_token(client, settings):
    settings.METRICS_TOKEN = ""

    assert [ask(client, text).status_code for text in ["", "Bearer ", f"Bearer {TOKEN}"]] == [
        404
    ] * 3


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "Bearer",
        "Bearer ",
        f"Basic {TOKEN}",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        "Bearer é",
    ],
)
def test_a_wrong_token_is_refused_without_a_query(client, wrong):
    answer = ask(client, wrong)

    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert "tabie_" not in answer.text


def test_a_database_that_does_not_answer_another_reading_is_no_second_wait(client, monkeypatch):
    monkeypatch.setattr(scraping, "LONGEST", 0.01)

    with scraping.scraper.lock:
        answer = ask(client)

    assert (answer.status_code, answer.text) == (503, "busy\n")


# Settings


@pytest.mark.parametrize("token", ["x", "a" * 31])
def test_a_token_that_can_be_guessed_is_refused(quick_python, token):
    refused = quick_python("manage.py", "check", METRICS_TOKEN=token, **PRODUCTION)

    assert refused.returncode != 0
    assert "METRICS_TOKEN is too short" in refused.stderr


def test_a_token_without_the_package_is_refused_with_what_to_install(quick_python):
    without = "import sys; sys.modules['prometheus_client'] = None\n"
    code = setting("METRICS_TOKEN")[1]

    refused = quick_python("-c", without + code, METRICS_TOKEN=TOKEN, **PRODUCTION)
    accepted = quick_python("-c", without + code, **PRODUCTION)

    assert refused.returncode != 0
    assert "pip install --require-hashes -r requirements-metrics.txt" in refused.stderr
    assert TOKEN not in refused.stderr
    assert accepted.stdout == "\n"
