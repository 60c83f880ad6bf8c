"""A request has one trace, from its first line to its last, and hands it on to what it enqueues."""

import json
import logging

import pytest
from django.test import RequestFactory

from config import tracing as web
from jobs import queue, spans, tracing
from jobs.worker import logs
from tests.jobs.collector import collector
from tests.testapp.models import Chore

__all__ = ["collector"]  # a fixture
pytestmark = pytest.mark.django_db

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
TRACED = {"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"}


@pytest.fixture
def lines(caplog, monkeypatch):
    """The lines as they were written."""
    seen = []
    note = lambda record: seen.append(json.loads(logs.JsonFormatter().format(record))) or ""  # noqa: E731
    monkeypatch.setattr(caplog.handler, "format", note)
    caplog.set_level(logging.INFO)
    return seen


def enqueue(request):
    queue.enqueue([Chore(name="sweep")])
    raise ValueError(request.path)


def test_a_job_of_a_request_goes_on_in_the_trace_of_the_caller():
    request = RequestFactory(headers=TRACED).get("/")

    with pytest.raises(ValueError, match="/"):
        web.middleware(enqueue)(request)
    web.forget()

    assert Chore.objects.get().trace == TRACED["traceparent"]
    assert tracing.traceparent() is None


@pytest.mark.parametrize("header", ["", "00-nonsense", f"00-{'0' * 32}-00f067aa0ba902b7-01"])
def test_without_a_good_header_a_new_trace_begins(header):
    request = RequestFactory(headers={"traceparent": header}).get("/")

    with pytest.raises(ValueError, match="/"):
        web.middleware(enqueue)(request)
    now = tracing.trace_id.get()
    web.forget()

    job = Chore.objects.get()
    assert tracing.trace_of(job.trace) == now
    assert now[:8] == job.pk.hex[:8]  # it begins with the time


def test_the_lines_of_a_request_name_its_trace_djangos_own_too(client, lines):
    client.get("/nothing/", headers=TRACED)

    assert [line["trace_id"] for line in lines if line["logger"] == "django.request"] == [TRACE]
    assert tracing.trace_id.get() == ""


def test_two_requests_of_one_thread_do_not_share_a_trace(client, lines):
    client.get("/nothing/", headers=TRACED)
    client.get("/nothing/")

    first, second = [line["trace_id"] for line in lines if line["logger"] == "django.request"]
    assert first == TRACE != second


def test_only_an_error_of_ours_tells_the_trace_to_the_visitor(client, monkeypatch, settings):
    settings.DEBUG = False
    client.raise_request_exception = False
    fine = client.get("/", headers=TRACED)
    monkeypatch.setattr("guides.pages.render", lambda *_, **__: 1 / 0)
    broken = client.get("/", headers=TRACED)

    assert "X-Trace-Id" not in fine.headers
    assert (broken.status_code, broken.headers["X-Trace-Id"]) == (500, TRACE)


# Spans


def test_a_request_has_a_span_named_by_its_route(collector, client):
    client.get("/guides/no-such/?secret=1", headers=TRACED)
    spans.stop()

    [span] = collector.of_kind("SERVER")
    assert (span.name, span.trace) == ("GET /guides/<str:plan_id>/", TRACE)
    assert span.parent == "00f067aa0ba902b7"
    assert span.facts == {
        "http.request.method": "GET",
        "url.path": "/guides/no-such/",
        "http.route": "/guides/<str:plan_id>/",
        "http.response.status_code": 404,
    }
    assert not span.has_failed


def test_a_new_trace_is_the_same_in_the_span_and_in_the_lines(collector, client, lines):
    client.get("/nothing/")
    spans.stop()

    [span] = collector.of_kind("SERVER")
    told = [line for line in lines if line["logger"] == "django.request"]
    assert [line["trace_id"] for line in told] == [span.trace]
    assert span.parent == ""


def test_a_broken_page_is_a_failed_span(collector, client, monkeypatch, settings):
    settings.DEBUG = False
    client.raise_request_exception = False
    monkeypatch.setattr("guides.pages.render", lambda *_, **__: 1 / 0)
    client.get("/")
    spans.stop()

    [span] = collector.of_kind("SERVER")
    assert span.has_failed


def test_probes_have_no_span(collector, client):
    for path in web.PROBES:
        client.get(path)
    spans.stop()

    assert not collector.of_kind("SERVER")
