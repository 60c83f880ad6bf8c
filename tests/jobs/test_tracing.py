"""With LOG_LEVEL=DEBUG the public functions of the queue tell when they begin and end."""

import json
import logging
from datetime import timedelta

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import RequestFactory

from config import logs as setting
from config.tracing import middleware, trace_of
from jobs import llm, queue, tracing
from jobs.models import Outcome
from jobs.paid.batches.models import Batch
from jobs.queue import processes
from jobs.queue.outcomes import End
from jobs.worker import logs
from tests.testapp.models import Chore, Digest

pytestmark = pytest.mark.django_db

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
TRACED = {"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"}


@pytest.fixture
def lines(caplog):
    caplog.set_level(logging.DEBUG, logger="jobs.queue")

    def written():
        records = [json.loads(logs.JsonFormatter().format(record)) for record in caplog.records]
        return [record for record in records if "slice" in record]

    return written


def test_enqueue_tells_counts_process_and_time(lines):
    process = processes.start("a secret label")

    queue.enqueue([Chore(name=name, process_id=process.id) for name in ("secret a", "secret b")])

    *start, enter, leave = lines()
    assert [line["message"] for line in start] == ["ENTER start", "EXIT start"]
    assert (enter["message"], leave["message"]) == ("ENTER enqueue", "EXIT enqueue")
    assert enter["args"] == {"jobs_count": 2}
    assert leave["result"] == {"result_count": 2}
    assert leave["elapsed_ms"] >= 0
    assert {line["process_id"] for line in (enter, leave)} == {str(process.id)}
    assert {line["slice"] for line in (enter, leave)} == {"JobQueue"}
    assert "secret" not in json.dumps([*start, enter, leave])


def test_each_function_about_processes_tells(lines):
    process = processes.start("a secret label", then=Chore(name="after"))
    processes.seal(process)
    processes.recount(process.pk)
    processes.follow_again(process)
    processes.let_nothing_follow(process)

    told = lines()
    names = ("start", "seal", "recount", "follow_again", "let_nothing_follow")
    assert [line["message"] for line in told if "ENTER" in line["message"]] == [
        f"ENTER {name}" for name in names
    ]
    about_it = [line for line in told if "let_nothing_follow" in line["message"]]
    assert {line["process_id"] for line in about_it} == {str(process.pk)}


def test_collecting_a_batch_tells(caplog):
    caplog.set_level(logging.DEBUG, logger="jobs.paid")

    Batch.objects.collect_soon("gemini:some-model", 5)

    assert [record.message for record in caplog.records] == [
        "ENTER collect_soon",
        "EXIT collect_soon",
    ]


def test_each_function_of_the_queue_tells(lines):
    queue.enqueue([Chore(name="sweep")])
    [job] = queue.claim(Chore, 1, "w", timedelta(minutes=1))
    queue.beat(Chore, {job.id: job.epoch}, "w", timedelta(minutes=1))
    queue.settle([End(job, Outcome.SUCCEEDED, result="a secret")])
    queue.requeue(Chore.objects.all())
    queue.cancel(Chore.objects.all(), "a secret reason")
    queue.rescue(Chore)

    told = [line["message"] for line in lines()]
    for name in ("enqueue", "claim", "beat", "settle", "requeue", "cancel", "rescue"):
        assert {f"ENTER {name}", f"EXIT {name}"} <= set(told)
    assert "secret" not in json.dumps(lines())


def test_each_function_of_llm_tells(lines, caplog):
    caplog.set_level(logging.DEBUG, logger="jobs.llm")
    process = llm.submit([{"prompt": "a secret"}], label="a secret label")
    llm.results(process.id)
    llm.progress(process.id)
    llm.cancel(process.id)
    with llm.consume(process.id):
        pass

    told = {line["message"]: line for line in lines()}
    for name in ("submit", "results", "progress", "cancel", "consume"):
        assert told[f"EXIT {name}"]["process_id"] == str(process.id)
        assert told[f"EXIT {name}"]["elapsed_ms"] >= 0
    assert told["EXIT consume"]["result"] == {"taken": 1}
    assert "secret" not in json.dumps(lines())


def test_a_function_that_raises_has_an_exit_too(lines):
    with pytest.raises(AttributeError):
        queue.enqueue([None])

    assert lines()[-1]["raised"] == "AttributeError"


def test_above_debug_nothing_is_written(caplog):
    caplog.set_level(logging.INFO, logger="jobs.queue")

    queue.enqueue([Chore(name="sweep")])

    assert not [record for record in caplog.records if hasattr(record, "facts")]


def test_a_row_whose_process_was_not_read_is_not_read_for_the_log(
    lines, chore, django_assert_num_queries
):
    deferred = Chore.objects.only("id").get(pk=chore.pk)

    with django_assert_num_queries(0):
        tracing.logged(lambda job: None)(deferred)


# The trace id


def test_a_run_is_traced_by_its_job(caplog):
    job = Chore(name="sweep")
    caplog.set_level(logging.INFO)

    with logs.about(job, "w"):
        logging.getLogger("some.library").info("sweeping")
        [line] = [json.loads(logs.JsonFormatter().format(record)) for record in caplog.records]

    assert line["trace_id"] == job.id.hex
    assert tracing.trace_id.get() == ""


@pytest.mark.parametrize(
    ("header", "is_taken"),
    [
        (f"00-{TRACE}-00f067aa0ba902b7-01", True),
        (f"00-{'0' * 32}-00f067aa0ba902b7-01", False),
        (f"00-{TRACE}-{'0' * 16}-01", False),
        (f"00-{TRACE.upper()}-00f067aa0ba902b7-01", False),
        (f"ff-{TRACE}-00f067aa0ba902b7-01", False),
        (f"00-{TRACE}-00f067aa0ba902b7-01\n", False),
        ("", False),
    ],
)
def test_a_request_is_traced_by_its_caller_or_anew(header, is_taken):
    found = trace_of(header)

    assert (found == TRACE) == is_taken
    assert len(bytes.fromhex(found)) == 16


def test_the_lines_of_a_request_name_its_trace(client, caplog, monkeypatch):
    seen = []
    note = lambda record: seen.append(logs.JsonFormatter().format(record)) or ""  # noqa: E731
    monkeypatch.setattr(caplog.handler, "format", note)

    client.get("/nothing/", headers=TRACED)

    assert any(json.loads(line).get("trace_id") == TRACE for line in seen)
    assert tracing.trace_id.get() == ""


def test_from_the_request_to_the_follow_up_it_is_one_trace(worker, caplog, monkeypatch):
    """The request enqueues, the job enqueues in its hook, the follow-up runs."""
    monkeypatch.setattr(Chore, "on_success", lambda self, result: queue.enqueue([Digest()]))
    caplog.set_level(logging.DEBUG, logger="jobs.queue")
    seen = []
    note = lambda record: seen.append(json.loads(logs.JsonFormatter().format(record))) or ""  # noqa: E731
    monkeypatch.setattr(caplog.handler, "format", note)

    def get_response(request):
        queue.enqueue([Chore(name="sweep")])

    middleware(get_response)(RequestFactory(headers=TRACED).get("/"))
    tracing.trace_id.set("")
    worker.succeed(worker.claim_one())
    with logs.about(worker.claim_one(Digest), "w"):
        logging.getLogger("jobs.queue").info("summing up")

    enqueued = [line for line in seen if line["message"] == "ENTER enqueue"]
    assert [line["trace_id"] for line in enqueued] == [TRACE, TRACE]
    assert seen[-1]["trace_id"] == TRACE
    assert seen[-1]["job"] == "testapp.Digest"


# The setting


def test_the_level_is_for_our_own_loggers():
    loggers = setting.logging("debug", "text")["loggers"]

    assert {loggers[name]["level"] for name in ("jobs", "guides", "config")} == {"DEBUG"}
    assert "level" not in loggers["django"]
    assert setting.logging("", "text")["loggers"]["jobs"]["level"] == "INFO"


def test_a_level_that_does_not_exist_is_refused():
    with pytest.raises(ImproperlyConfigured, match="LOG_LEVEL=LOUD"):
        setting.logging("loud", "text")


def test_without_debug_the_decorator_calls_the_function_and_no_more(monkeypatch):
    monkeypatch.setattr(tracing, "time", None)  # it would be asked for the time
    double = tracing.logged(lambda number: 2 * number)

    assert double(21) == 42
