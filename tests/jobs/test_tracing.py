"""With LOG_LEVEL=DEBUG the public functions of the queue tell when they begin and end."""

import json
import logging
from datetime import timedelta

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import logs as setting
from jobs import llm, queue, tracing
from jobs.models import Outcome
from jobs.paid.batches.models import Batch
from jobs.queue import processes
from jobs.queue.outcomes import End
from jobs.worker import logs
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db


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


def test_a_model_is_no_process(lines):
    queue.claim(Chore, 1, "w", timedelta(minutes=1))

    assert all("process_id" not in line for line in lines())


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
