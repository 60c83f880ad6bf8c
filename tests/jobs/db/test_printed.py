"""Texts that an attacker may have written, where a person's terminal prints them."""

import io
import json
import logging

import pytest
from django.core.management import call_command

from jobs.db import text
from jobs.errors import PermanentError
from jobs.worker import logs

EVIL = "\x1b[2J\x1b]0;owned\x07red\r\n12:00:00 INFO all is well\u202edesrever\x9b31m\u2028\x00"
OBEYED = set("\x1b\x07\r\u202e\x9b\u2028\x00")
SHOWN = r"\x1b[2J\x1b]0;owned\x07red\r\n12:00:00 INFO all is well\u202edesrever\x9b31m\u2028"


def test_a_terminal_obeys_nothing():
    assert text.printable(EVIL).startswith(SHOWN)
    assert not OBEYED & set(text.printable(EVIL))
    assert text.printable("\ud800") == r"\ud800"  # which no terminal can encode


@pytest.mark.parametrize("words", ["東京　駅", "👩‍👩‍👧", "Café – 5 €", r"C:\new"])
def test_other_texts_are_printed_as_they_are(words):
    assert text.printable(words) == words


def formatted(caplog, formatter):
    [record] = caplog.records
    return formatter.format(record)


def test_the_text_log_has_one_line_per_event(caplog):
    logging.getLogger("django.request").warning("Not Found: %s", f"/{EVIL}")

    line = formatted(caplog, logs.TextFormatter())

    assert "\n" not in line
    assert not OBEYED & set(line)
    assert "Not Found: /\\x1b" in line


def test_no_line_of_a_traceback_looks_like_an_event(caplog):
    try:
        raise ValueError(EVIL)
    except ValueError:
        logging.getLogger("jobs").exception("failed")

    event, *lines = formatted(caplog, logs.TextFormatter()).split("\n")

    assert event.endswith("failed")
    assert all(line.startswith("    ") for line in lines)
    assert not OBEYED & set("".join(lines))


def test_json_escapes_by_itself(caplog):
    logging.getLogger("jobs").warning("%s", EVIL)

    line = formatted(caplog, logs.JsonFormatter())

    assert line.isascii()
    assert line.isprintable()
    assert json.loads(line)["message"] == EVIL


@pytest.mark.django_db(transaction=True)
def test_the_command_line_prints_no_codes(worker, chore):
    worker.fail(worker.claim_one(), PermanentError(EVIL))

    printed = "".join(printed_by(*words) for words in (["list"], ["show", str(chore.id)]))

    assert "owned" in printed
    assert not OBEYED & set(printed)
    assert "\n12:00:00" not in printed


def printed_by(*words):
    out = io.StringIO()
    call_command("jobs", *words, stdout=out)
    return out.getvalue()
