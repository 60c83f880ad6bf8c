"""With a collector, OpenTelemetry's spans tell what was enqueued, performed and asked, and when."""

import subprocess
import sys
import threading
import time

import pytest

from jobs import queue, spans, tracing
from jobs.errors import Snooze
from jobs.models import Outcome
from jobs.run import Pulse, Run
from jobs.worker.crew import perform
from tests.jobs.collector import VARIABLE, collector
from tests.jobs.conftest import new_chore
from tests.testapp.models import Chore, Digest

__all__ = ["collector"]  # a fixture
pytestmark = pytest.mark.django_db

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
TRACEPARENT = f"00-{TRACE}-00f067aa0ba902b7-01"


def run_one(worker, model=Chore):
    """Claim one job and perform it, as a thread of a worker does."""
    job = worker.claim_one(model)
    return perform(Run(job, Pulse(60), time.monotonic()), worker.name)


def in_a_step(job, run):
    with run.step("wait"):
        pass


# What a span tells


def test_enqueueing_is_the_parent_of_the_run(collector, worker):
    with tracing.inside(TRACEPARENT):
        queue.enqueue([Chore(name="a")])
    job = Chore.objects.get()
    run_one(worker)
    spans.stop()

    [sent] = collector.of_kind("PRODUCER")
    [ran] = collector.of_kind("CONSUMER")
    assert (sent.name, ran.name) == ("enqueue testapp.Chore", "perform testapp.Chore")
    assert {sent.trace, ran.trace, tracing.trace_of(job.trace)} == {TRACE}
    assert sent.parent == "00f067aa0ba902b7"
    assert ran.parent == sent.id == job.trace[36:52]
    assert sent.facts == {
        "messaging.system": "tabie",
        "messaging.destination.name": "testapp.Chore",
        "messaging.operation.type": "send",
        "messaging.operation.name": "enqueue",
        "messaging.message.id": str(job.pk),
    }
    assert ran.facts["messaging.operation.type"] == "process"
    assert ran.facts["messaging.message.id"] == str(job.pk)
    assert ran.facts["tabie.outcome"] == "succeeded"
    assert not ran.has_failed
    assert ran.service == "tabie"


def test_jobs_that_are_enqueued_together_have_one_span(collector):
    queue.enqueue([Chore(name=name) for name in "abc"])
    spans.stop()

    [sent] = collector.received
    assert sent.facts["messaging.batch.message_count"] == 3
    assert {job.trace[36:52] for job in Chore.objects.all()} == {sent.id}


def test_a_run_that_nobody_caused_begins_the_trace_that_the_console_shows(collector, worker):
    job = new_chore("sweep")
    Chore.objects.update(trace=None)  # as by plain SQL

    run_one(worker)
    spans.stop()

    [ran] = collector.of_kind("CONSUMER")
    assert (ran.trace, ran.parent) == (job.pk.hex, "")


def test_what_a_hook_enqueues_follows_the_run(collector, worker, monkeypatch):
    """The hook runs later, in another thread than the job."""
    monkeypatch.setattr(Chore, "on_success", lambda self, result: queue.enqueue([Digest()]))
    new_chore("sweep", trace=TRACEPARENT)

    queue.settle([run_one(worker)])
    spans.stop()

    [ran] = collector.of_kind("CONSUMER")
    [sent] = collector.named("enqueue testapp.Digest")
    assert (sent.trace, sent.parent) == (TRACE, ran.id)


def test_a_hook_within_a_request_belongs_to_the_trace_of_its_job(collector, worker, monkeypatch):
    monkeypatch.setattr(Chore, "on_cancel", lambda self: queue.enqueue([Digest()]))
    new_chore("sweep", trace=TRACEPARENT)

    tracing.begin(None, "ab" * 16)
    with spans.request("POST", "/admin/"):
        queue.cancel(Chore.objects.all())
    tracing.end()
    spans.stop()

    assert {span.trace for span in collector.named("enqueue testapp.Digest")} == {TRACE}


def test_a_step_is_inside_its_run(collector, worker, monkeypatch):
    monkeypatch.setattr(Chore, "perform", in_a_step)
    new_chore("sweep")

    run_one(worker)
    spans.stop()

    [ran] = collector.of_kind("CONSUMER")
    [step] = collector.named("wait")
    assert (step.kind, step.parent, step.trace) == ("INTERNAL", ran.id, ran.trace)


def test_a_failure_is_told_and_a_snooze_is_none(collector, worker):
    new_chore("bad", script="fail")
    run_one(worker)
    new_chore("later", script="snooze")
    run_one(worker)
    spans.stop()

    failed, snoozed = collector.of_kind("CONSUMER")
    assert (failed.has_failed, failed.facts["error.type"]) == (True, "ValueError")
    assert (snoozed.has_failed, snoozed.facts["tabie.outcome"]) == (False, "snoozed")


def test_a_call_that_fails_is_told(collector):
    with pytest.raises(ZeroDivisionError), spans.call("gemini:some-model"):
        raise ZeroDivisionError
    with pytest.raises(Snooze), spans.step("store"):
        raise Snooze(1)
    spans.stop()

    call, step = collector.received
    assert (call.kind, call.name) == ("CLIENT", "generate_content some-model")
    assert call.facts == {
        "gen_ai.operation.name": "generate_content",
        "gen_ai.provider.name": "gcp.gemini",
        "gen_ai.request.model": "some-model",
        "error.type": "ZeroDivisionError",
    }
    assert (call.has_failed, step.has_failed) == (True, False)


def test_a_caller_that_records_nothing_is_obeyed(collector, worker):
    new_chore("sweep", trace=f"{TRACEPARENT[:-2]}00")

    run_one(worker)
    spans.stop()

    assert not collector.of_kind("CONSUMER")


# What can go wrong


def test_a_collector_that_is_away_costs_no_job(monkeypatch, worker, caplog):
    monkeypatch.setenv(VARIABLE, "http://127.0.0.1:9")  # nobody listens there
    spans.forget()
    new_chore("sweep")

    end = run_one(worker)
    spans.stop()
    spans.forget()

    assert end.outcome == Outcome.SUCCEEDED


def test_a_collector_that_never_answers_holds_up_no_job_and_no_end(collector, worker, monkeypatch):
    collector.hold = threading.Event()
    monkeypatch.setattr(spans, "FLUSH_SECONDS", 0.2)
    new_chore("sweep")

    end = run_one(worker)
    spans.stop()

    assert not collector.received  # it has not answered yet: nobody waited for it
    assert end.outcome == Outcome.SUCCEEDED


@pytest.mark.parametrize("value", ["no address", "http://["])
def test_an_address_that_is_none_costs_no_job(monkeypatch, worker, value):
    monkeypatch.setenv(VARIABLE, value)
    spans.forget()
    new_chore("sweep")

    end = run_one(worker)
    spans.stop()
    spans.forget()

    assert end.outcome == Outcome.SUCCEEDED


def test_without_the_package_a_line_says_what_to_install(monkeypatch, caplog):
    monkeypatch.setenv(VARIABLE, "http://127.0.0.1:9")
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    spans.forget()

    with spans.step("draw"):
        pass
    spans.forget()

    assert caplog.messages == [f"{VARIABLE} is set, but: pip install -r requirements-traces.txt"]


def test_opentelemetrys_own_switch_turns_them_off(collector, monkeypatch):
    monkeypatch.setenv("OTEL_SDK_DISABLED", "True")

    with tracing.inside(TRACEPARENT):
        new_chore("sweep")
    spans.stop()

    assert spans.tracer() is None
    assert Chore.objects.get().trace == TRACEPARENT


def test_while_it_is_off_nothing_is_imported():
    code = """
import os, django; os.environ.pop("OTEL_EXPORTER_OTLP_ENDPOINT", None); django.setup()
import sys; from jobs import queue, spans; from jobs.worker import crew, logs; import config.tracing
with spans.step("draw"), spans.request("GET", "/"), spans.enqueue([1]): pass
assert not [name for name in sys.modules if name.startswith("opentelemetry")]
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_forked_process_sends_its_own_spans(collector):
    """As gunicorn's workers do, if the program is loaded before they fork."""
    code = """
import os; from jobs import spans
with spans.step("before"): pass
if child := os.fork():
    os.waitpid(child, 0)
else:
    with spans.step("after"): pass
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=60)

    assert sorted(span.name for span in collector.received) == ["after", "before"]
