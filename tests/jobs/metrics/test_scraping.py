"""One reading for all who ask; what can't be read is told as missing, and never as 0."""

import threading

import pytest
from django.db import connection

from jobs.metrics import families, parts, scraping
from jobs.models import Worker
from tests.jobs.conftest import new_chore
from tests.jobs.databases import locked, without_table
from tests.testapp.models import Chore, NoopJob

CHORE = Chore._meta.label


def failed(reading):
    """The parts that the reading itself calls missing."""
    return {
        sample.labels[0]
        for sample in reading.samples
        if sample.family is families.SCRAPE_FAILED and sample.values == (True,)
    }


def kinds(reading):
    return {sample.labels[0] for sample in reading.samples if sample.family is families.JOBS}


@pytest.mark.django_db
def test_every_family_but_those_without_rows_has_a_sample():
    reading = scraping.read()

    found = {sample.family for sample in reading.samples}
    per_row = ("tabie_provider_", "tabie_schedule_")
    assert {family.name for family in set(families.FAMILIES) - found} == {
        family.name for family in families.FAMILIES if family.name.startswith(per_row)
    }
    assert failed(reading) == set()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("model", [Worker, Chore])
def test_a_missing_table_costs_only_its_own_part(model):
    part = CHORE if model is Chore else "workers"

    with without_table(model):
        reading = scraping.read()

    assert failed(reading) == {part}
    assert (CHORE in kinds(reading)) == (model is not Chore)
    assert NoopJob._meta.label in kinds(reading)
    assert families.WORKERS in {sample.family for sample in reading.samples} or model is Worker


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_a_locked_table_is_not_waited_for():
    with locked("chores"):
        reading = scraping.read()

    assert failed(reading) == {CHORE}
    assert "lock timeout" in reading.failed[CHORE]


@pytest.mark.django_db
def test_a_fault_of_our_own_costs_only_its_own_part(monkeypatch):
    monkeypatch.setattr(parts, "schedules", lambda: iter([1 / 0]))

    reading = scraping.read()

    assert failed(reading) == {"schedules"}


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_a_lost_database_is_asked_once(monkeypatch):
    asked = []

    def end_session():
        asked.append("workers")
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
        return []

    monkeypatch.setattr(parts, "workers", end_session)
    monkeypatch.setattr(parts, "providers", lambda: asked.append("providers"))

    reading = scraping.read()

    assert asked == ["workers"]
    assert failed(reading) == set(parts.parts())
    assert {sample.family for sample in reading.samples} == {families.SCRAPE_FAILED}
    monkeypatch.undo()
    assert failed(scraping.read()) == set()


@pytest.mark.django_db
def test_parts_that_take_too_long_end_the_reading(monkeypatch):
    monkeypatch.setattr(scraping, "LONGEST", -1)

    assert failed(scraping.read()) == set(parts.parts())


@pytest.mark.django_db
def test_many_rows_cost_no_more_queries():
    new_chore("the first")
    with connection.execute_wrapper(counter := Counter()):
        scraping.read()
    few = counter.number
    for number in range(30):
        new_chore(f"chore {number}")

    with connection.execute_wrapper(counter := Counter()):
        scraping.read()

    assert counter.number == few


class Counter:
    number = 0

    def __call__(self, execute, *query):
        self.number += 1
        return execute(*query)


# Who asks


@pytest.fixture
def scraper():
    return scraping.Scraper()


@pytest.mark.django_db
def test_whoever_asks_soon_gets_the_same_reading(scraper, monkeypatch):
    first = scraper.scrape()

    assert scraper.scrape() is first

    monkeypatch.setattr(scraping, "FRESH", -1)
    assert scraper.scrape() is not first


def test_a_reading_that_hangs_holds_nobody_else_up(scraper, monkeypatch):
    monkeypatch.setattr(scraping, "LONGEST", 0.01)
    reading, end = threading.Event(), threading.Event()

    def hang():
        reading.set()
        end.wait(60)
        return scraping.Reading([], {})

    monkeypatch.setattr(scraping, "read", hang)
    stuck = threading.Thread(target=scraper.scrape)
    stuck.start()
    assert reading.wait(60)

    with pytest.raises(scraping.Busy):
        scraper.scrape()

    end.set()
    stuck.join()
    assert scraper.scrape().samples == []


def test_what_is_missing_is_logged_once_and_so_is_its_return(scraper, caplog):
    for faults in [{"calls": "gone\nFAKE line"}, {"calls": "gone"}, {}, {}]:
        scraper.tell(faults)

    said = [record.getMessage() for record in caplog.records]
    assert said == [r"No metrics of calls: gone\nFAKE line", "There are metrics of calls again."]
