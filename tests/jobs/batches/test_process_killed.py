"""Workers are killed at every point of a batch; then the vendor's own books are checked."""

from collections import Counter

import pytest

from jobs import llm
from jobs.llm.models import LLMJob
from jobs.models import Call
from jobs.paid.batches.models import Batch
from tests.jobs.batches import offices
from tests.jobs.batches.offices import (
    DIE,
    JOBS,
    dying_at,
    end,
    expect_death,
    expire,
    has_reached,
    hurry,
    waiting_at,
)
from tests.jobs.clients import answers
from tests.jobs.processes import SHORT, start, wait_until
from tests.testapp.models import Effect

__all__ = ["start"]  # fixtures
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres]
office, openai_office = offices.office, offices.openai_office

B = "jobs.paid.batches"
AFTERWARDS = f"real(*arguments, **options); {DIE}"
POINTS = {
    "collected, before the upload": (f"{B}.creating.upload", DIE),
    "uploaded, before the creation": (f"{B}.creating.create", DIE),
    "created, but nobody heard": (f"{B}.creating._create", AFTERWARDS),
    "before the first poll": (f"{B}.polling.poll", DIE),
    "polling": (f"{B}.polling._look", AFTERWARDS),
    "downloaded, before the store": (f"{B}.fetching._pieces", DIE),
    "stored, but that is not on record": (
        f"{B}.members.note",
        f"'file' in options and {DIE}; return real(*arguments, **options)",
    ),
    "half of the lines handed out": (
        f"{B}.handing_out._end",
        f"len(calls) == 3 and {DIE}; return real(*arguments, **options)",
    ),
    "a line stored, but that is not on record": (
        "jobs.paid.answers.mark_stored",
        f"len(calls) == 2 and {DIE}; return real(*arguments, **options)",
    ),
    "all handed out": (f"{B}.handing_out.hand_out", AFTERWARDS),
}


# In chunks of two lines, so that a half can be handed out.
CHUNKS = f"import django; django.setup(); import {B}.handing_out as h; h.CHUNK = 2\n"


@pytest.mark.few(1)
@pytest.mark.parametrize(("where", "code"), POINTS.values(), ids=POINTS.keys())
def test_a_worker_killed_there_loses_no_line_and_pays_none_twice(start, office, where, code):
    office.submit(4)
    office.vendor.finish_after = 1

    expect_death(start(*JOBS, before=CHUNKS + dying_at(where, code)))
    start(*JOBS)
    wait_until(office.all_ended)

    office.assert_all_answered_and_billed_once(4)
    assert office.provider.spent == office.price_of_all
    assert not LLMJob.objects.filter(attempts__gt=0).exists()


@pytest.mark.long
def test_a_worker_killed_in_the_download_downloads_it_again(start, openai_office):
    office = openai_office
    office.submit(4)
    office.vendor.finish_after = 1
    office.vendor.instead["download"] = [answers.hang]
    worker = start(*JOBS)
    wait_until(lambda: hurry() or office.vendor.asked["download"])
    worker.kill()
    expire(worker)
    start(*JOBS)
    wait_until(office.all_ended)

    office.assert_all_answered_and_billed_once(4)
    assert office.provider.spent == office.price_of_all


@pytest.mark.long
def test_a_worker_killed_while_the_vendor_keeps_its_reply_is_found_again(start, openai_office):
    office = openai_office
    office.submit(4)
    office.vendor.afterwards["create"] = [answers.hang]
    office.vendor.list_lag = 1  # and the list shows it a little later
    worker = start(*JOBS)
    wait_until(lambda: office.vendor.created)

    end(worker)
    start(*JOBS)
    wait_until(office.all_ended)

    office.assert_all_answered_and_billed_once(4)
    assert len(office.vendor.created) == office.vendor.asked["create"] == 1
    assert office.provider.spent == office.price_of_all


@pytest.mark.long
def test_a_creation_whose_reply_is_lost_is_found_in_the_list(start, office):
    office.submit(4)
    office.vendor.afterwards["create"] = [answers.reset]
    office.vendor.list_lag = 1

    start(*JOBS)
    wait_until(office.all_ended)

    office.assert_all_answered_and_billed_once(4)
    assert office.vendor.asked["create"] == 1
    assert office.provider.spent == office.price_of_all


@pytest.mark.long
def test_a_worker_killed_before_it_sent_leaves_unknown_calls_that_count_as_paid(start, office):
    office.submit(2)
    expect_death(start(*JOBS, before=dying_at(f"{B}.creating._create")))
    booked = office.provider.spent
    start(*JOBS)
    wait_until(office.all_ended)

    assert office.vendor.bought == Counter({f"a word, number {n}": 1 for n in range(2)})
    assert Counter(Call.objects.values_list("state", flat=True)) == {"unknown": 2, "stored": 2}
    assert office.provider.spent == booked + office.price_of_all


@pytest.mark.long
def test_a_worker_frozen_past_its_lease_before_the_creation_sends_nothing(start, office):
    office.submit(4)
    frozen = start(*JOBS, before=waiting_at(f"{B}.creating._create"), lease=SHORT, gate=True)
    wait_until(lambda: has_reached(frozen))
    frozen.freeze()
    frozen.open_gate()

    start(*JOBS)
    wait_until(
        lambda: office.vendor.asked["list"] and Batch.objects.filter(status="queued").exists()
    )
    frozen.resume()
    wait_until(lambda: "was not created" in frozen.log)
    wait_until(office.all_ended)

    office.assert_all_answered_and_billed_once(4)
    assert len(office.vendor.created) == office.vendor.asked["create"] == 1
    assert office.provider.spent == office.price_of_all


CONSUMER = """
import django; django.setup()
import os, pathlib
from jobs import llm
from tests.testapp.models import Effect
with llm.consume(os.environ["PROCESS"]) as taken:
    Effect.objects.bulk_create(Effect(job_id=job.id, result="x") for job in taken)
    pathlib.Path(os.environ["GATE"] + ".reached").touch()
    while not os.path.exists(os.environ["GATE"]):
        pass
"""


@pytest.mark.long
def test_a_consumer_killed_before_its_commit_has_consumed_nothing(start, office, monkeypatch):
    process = office.submit(4)
    worker = start(*JOBS)
    wait_until(office.all_ended)
    worker.kill()
    monkeypatch.setenv("PROCESS", str(process))
    consumer = start(before=CONSUMER, gate=True)
    wait_until(lambda: has_reached(consumer))
    with llm.consume(process) as taken:
        assert taken == []  # another consumer has them
    consumer.kill()

    def consume():
        with llm.consume(process) as taken:
            Effect.objects.bulk_create(Effect(job_id=job.id, result="y") for job in taken)
        return taken

    assert len(wait_until(consume)) == 4

    assert Counter(Effect.objects.values_list("result", flat=True)) == {"y": 4}
    assert not LLMJob.objects.exists()
    assert set(office.vendor.bought.values()) == {1}
