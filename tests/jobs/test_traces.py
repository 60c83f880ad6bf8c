"""Every job keeps the trace in which it was enqueued, and every line about it names that trace."""

import json
import logging

import pytest
from django.db import connection

from jobs import events, llm, queue, tracing
from jobs.errors import PermanentError
from jobs.llm.models import LLMJob
from jobs.models import Event, Outcome
from jobs.queue import hooks, outcomes, processes
from jobs.worker import journal, logs
from tests.jobs.conftest import expire_lease, new_chore
from tests.testapp.models import Chore, Digest

pytestmark = pytest.mark.django_db

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
TRACEPARENT = f"00-{TRACE}-00f067aa0ba902b7-01"
NONE_AT_ALL = [
    "an attacker's text",
    f"00-{'0' * 32}-00f067aa0ba902b7-01",
    f"00-{TRACE}-{'0' * 16}-01",
    f"00-{TRACE.upper()}-00f067aa0ba902b7-01",
    f"ff-{TRACE}-00f067aa0ba902b7-01",
    f"{TRACEPARENT}\n",
    f"{TRACEPARENT}-more",
    "",
]


@pytest.fixture
def lines(caplog, monkeypatch):
    """Each line as it was written, in both formats."""
    seen = []

    def note(record):
        seen.append((logs.TextFormatter().format(record), logs.JsonFormatter().format(record)))
        return ""

    monkeypatch.setattr(caplog.handler, "format", note)
    caplog.set_level(logging.DEBUG)
    return seen


def traces(lines, start=""):
    """The trace ids of all lines whose message begins so; both formats must agree."""
    found = set()
    for text, line in lines:
        told = json.loads(line)
        if told["message"].startswith(start):
            trace = told.get("trace_id", "")
            assert f"trace_id={trace}" in text if trace else "trace_id" not in text
            found.add(trace)
    return found


# The column


def by_enqueue():
    queue.enqueue([Chore(name="a"), Chore(name="b")])


def by_save():
    Chore(name="a").save()


def by_create():
    Chore.objects.create(name="a")


def by_bulk_create():
    Chore.objects.bulk_create([Chore(name="a"), Chore(name="b")])


def by_process():
    processes.seal(processes.start("week", then=Chore(name="after")))


@pytest.mark.parametrize("way", [by_enqueue, by_save, by_create, by_bulk_create, by_process])
def test_every_way_to_make_a_job_keeps_the_whole_traceparent(way):
    with tracing.inside(TRACEPARENT):
        way()

    assert set(Chore.objects.values_list("trace", flat=True)) == {TRACEPARENT}


@pytest.mark.parametrize("way", [by_enqueue, by_save, by_create, by_bulk_create])
def test_every_way_to_make_a_job_keeps_the_job_it_came_from(way, chore):
    with tracing.on_behalf_of(chore):
        way()

    made = Chore.objects.exclude(pk=chore.pk)
    assert {job.parent_id for job in made} == {chore.pk}
    assert {tracing.trace_of(job.trace) for job in made} == {chore.pk.hex}


def test_events_and_requests_keep_it():
    with tracing.inside(TRACEPARENT):
        events.record("test", "pair.met")
        llm.submit([{"prompt": "hello"}], label="questions")

    assert {job.trace for job in Event.objects.get().jobs.all()} == {TRACEPARENT}
    assert LLMJob.objects.get().trace == TRACEPARENT


@pytest.mark.parametrize("text", NONE_AT_ALL)
@pytest.mark.parametrize("way", ["enqueue", "save", "bulk_create"])
def test_what_is_no_traceparent_is_dropped_and_the_job_goes_on(way, text):
    job = Chore(name="a", trace=text)
    {
        "enqueue": lambda: queue.enqueue([job]),
        "save": job.save,
        "bulk_create": lambda: Chore.objects.bulk_create([job]),
    }[way]()

    assert Chore.objects.get().trace is None


def test_a_traceparent_that_the_caller_gives_wins():
    other = f"00-{'ab' * 16}-{'cd' * 8}-00"
    with tracing.inside(TRACEPARENT):
        queue.enqueue([Chore(name="a", trace=other)])

    assert Chore.objects.get().trace == other


def test_what_plain_sql_wrote_is_not_believed(worker):
    """No CHECK: a job is worth more than its trace."""
    job = new_chore("sweep")
    with connection.cursor() as cursor:
        cursor.execute("UPDATE chores SET trace = 'an attacker''s text'")
    job.refresh_from_db()

    with logs.about(job, "w"):
        queue.enqueue([Digest()])

    assert tracing.trace_of(Digest.objects.get().trace) == job.pk.hex


def test_saving_a_job_later_does_not_move_it_to_another_trace(chore):
    with tracing.inside(TRACEPARENT):
        chore.save()

    chore.refresh_from_db()
    assert chore.trace is None


# The lines


def test_a_run_that_nobody_caused_is_its_own_trace(lines, chore):
    with logs.about(chore, "w"):
        logging.getLogger("some.library").info("sweeping")

    assert traces(lines, "sweeping") == {chore.pk.hex}
    assert tracing.trace_id.get() == ""


def test_the_lines_of_an_end_and_of_a_rescue_name_the_trace(lines, worker):
    job = new_chore("sweep", trace=TRACEPARENT)
    expire_lease(worker.claim_one())

    for end in queue.rescue(Chore):
        journal.report(end, "w")
    journal.report(outcomes.End(job, Outcome.SUCCEEDED), "w")

    assert traces(lines, "lost") == {TRACE}
    assert traces(lines, "succeeded") == {TRACE}


def test_a_line_about_a_job_that_could_not_be_claimed_names_its_trace(lines, worker, monkeypatch):
    new_chore("sweep", trace=TRACEPARENT)
    monkeypatch.setattr(Chore, "on_start", lambda self: 1 / 0)
    monkeypatch.setattr("jobs.queue.hooks.HookRaised", hooks.HookWaited)  # as by a locked row

    worker.claim()

    assert any("can't be claimed now" in text and TRACE in text for text, _ in lines)


def test_a_line_about_a_hook_that_was_left_out_names_the_trace(lines, worker, monkeypatch):
    new_chore("sweep", trace=TRACEPARENT)
    monkeypatch.setattr(Chore, "on_failure", lambda self, error: 1 / 0)

    worker.fail(worker.claim_one(), PermanentError("no broom"))

    assert traces(lines, "on_failure raised") == {TRACE}


def test_a_line_about_a_follow_up_that_could_not_follow_names_the_trace(lines):
    with tracing.inside(TRACEPARENT):
        process = processes.start("week", then=Chore(name="after"))
    process.follow["model"] = "testapp.gone"
    process.save()

    processes.seal(process)

    assert traces(lines, "Nothing follows") == {TRACE}
