import json
import logging

import pytest

from jobs.worker import logs
from tests.testapp.models import Chore

log = logging.getLogger("some.library")


@pytest.fixture
def lines(caplog):
    caplog.set_level(logging.INFO)

    def formatted_by(formatter):
        return [formatter.format(record) for record in caplog.records]

    return formatted_by


def test_each_line_of_a_run_says_which_run_it_is(lines):
    job = Chore(name="sweep", epoch=4, attempts=1)

    with logs.about(job, "host:1:ab"):
        log.info("sweeping")
        [line] = lines(logs.JsonFormatter())

    line = json.loads(line)
    assert line["message"] == "sweeping"
    assert (line["job"], line["id"]) == ("testapp.Chore", str(job.id))
    assert (line["epoch"], line["attempt"], line["worker"]) == (4, 2, "host:1:ab")


def test_a_line_outside_of_a_run_says_nothing_of_one(lines):
    log.info("idle")

    assert "job" not in json.loads(lines(logs.JsonFormatter())[0])


def test_every_line_of_json_names_a_database_that_has_a_name(lines):
    log.info("idle")

    assert json.loads(lines(logs.JsonFormatter("tokyo"))[0])["database"] == "tokyo"
    assert "database" not in json.loads(lines(logs.JsonFormatter())[0])


def test_an_event_is_one_line_whatever_its_text(lines):
    log.info("first\nsecond")

    [text] = lines(logs.TextFormatter())
    [line] = lines(logs.JsonFormatter())

    assert "\n" not in text
    assert "\n" not in line


def test_a_traceback_is_part_of_the_json_line(lines):
    try:
        raise ValueError("no broom")
    except ValueError:
        log.exception("failed")

    [line] = lines(logs.JsonFormatter())

    assert "ValueError: no broom" in json.loads(line)["traceback"]
