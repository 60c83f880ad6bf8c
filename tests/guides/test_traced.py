"""One trace, from the click in the browser to the request that a paid service receives."""

import json
import logging

import pytest

from guides.models import SpotImageJob
from jobs import spans
from jobs.worker import logs
from tests.guides import making
from tests.guides.gemini import NAME, PICTURES, all_ready, service
from tests.guides.making import type_in
from tests.jobs.collector import collector
from tests.jobs.processes import start, wait_until

__all__ = ["collector", "service", "start"]  # fixtures
pytestmark = pytest.mark.postgres
staff = making.staff


@pytest.mark.long
def test_one_trace_from_the_click_to_the_providers_call(
    start, service, staff, collector, caplog, monkeypatch
):
    written = []
    note = lambda record: written.append(logs.JsonFormatter().format(record)) or ""  # noqa: E731
    monkeypatch.setattr(caplog.handler, "format", note)
    caplog.set_level(logging.DEBUG, logger="jobs")
    monkeypatch.setenv("LOG_FORMAT", "json")

    answer = type_in(staff, spots="Kinkaku-ji")
    worker = start(PICTURES, "-v2")
    wait_until(all_ready)
    worker.terminate()
    worker.exit_code()
    spans.stop()

    assert answer.status_code == 302
    [click] = collector.named("POST /guides/new/")
    [enqueue] = collector.named("enqueue guides.SpotImageJob")
    [run] = collector.named("perform guides.SpotImageJob")
    [step] = collector.named("generate")
    [call] = collector.of_kind("CLIENT")
    assert [span.parent for span in (click, enqueue, run, step, call)] == [
        *("", click.id, enqueue.id, run.id, step.id)
    ]
    assert {span.trace for span in (click, enqueue, run, step, call)} == {click.trace}
    job = SpotImageJob.objects.get()
    assert job.trace.startswith(f"00-{click.trace}-{enqueue.id}-")
    assert call.facts["gen_ai.provider.name"] == "gcp.gemini"
    assert call.facts["gen_ai.request.model"] == NAME.partition(":")[2]

    clicked = [json.loads(line) for line in written]
    told = {line["message"]: line.get("trace_id") for line in clicked}
    assert told["ENTER enqueue"] == told["EXIT enqueue"] == click.trace
    ran = [json.loads(line) for line in worker.log.splitlines() if line.startswith("{")]
    of_job = [line for line in ran if line.get("id") == str(job.pk)]
    messages = {line["message"] for line in of_job}
    assert {"started", "succeeded", f"{NAME} #1: asking"} <= messages
    assert {line["trace_id"] for line in of_job} == {click.trace}

    [request] = service.ledger  # a stranger learns nothing of our traces
    assert "traceparent" not in {name.lower() for name in request.headers}
