"""Worker processes that ask a vendor on this machine, by its own package, for requests in batches.

A worker can be stopped at a named point: `dying_at` ends it there as kill -9 does, `waiting_at`
holds it there until the test opens its gate.
"""

import signal
from contextlib import suppress
from decimal import Decimal
from pathlib import Path

import pytest
from django.db.models import F
from django.db.models.functions import Now

from jobs import llm
from jobs.llm.models import LLMJob
from jobs.models import Call, Provider, Strategy
from jobs.paid.batches.models import Batch
from tests.jobs.processes import wait_until
from tests.jobs.vendors.gemini import GeminiVendor
from tests.jobs.vendors.openai import OpenAIVendor

JOBS = ("--jobs", "jobs.LLMJob", "jobs.Batch")
MODEL = "test-model"
DIE = "os.kill(os.getpid(), 9)"
PRICES = {"price": 0, "input_price": Decimal(1000), "output_price": Decimal(5000)}


class Office:
    """A vendor, the provider's row for it, and what the test asks for."""

    def __init__(self, vendor, service):
        self.vendor = vendor
        self.name = f"{service}:{MODEL}"

    @property
    def provider(self):
        return Provider.objects.with_now().get(name=self.name)

    def submit(self, count, **columns):
        requests = [{"prompt": f"a word, number {n}", "max_tokens": 50} for n in range(count)]
        return llm.submit(requests, label="words", **columns).pk

    @property
    def price_of_all(self):
        """What the vendor bills for all lines of its batches."""
        return sum(self.price_of(prompt) * times for prompt, times in self.vendor.prompts.items())

    def price_of(self, prompt, *, batch=True):
        tokens = len(prompt.split()), len(self.vendor.writes(prompt).split())
        return self.provider.cost(*tokens, batch=batch)

    def all_ended(self):
        """Whether all requests have ended. Batches that wait are hurried, requests are not."""
        hurry()
        return not LLMJob.objects.living().exists()

    def assert_all_answered_and_billed_once(self, count):
        answers = LLMJob.objects.filter(status="succeeded").values_list("response_json", flat=True)
        assert len({answer["text"] for answer in answers}) == count
        assert len(self.vendor.bought) == count
        assert set(self.vendor.bought.values()) == {1}
        wait_until(lambda: hurry() or not Batch.objects.living().exists())
        assert set(Batch.objects.values_list("status", "attempts")) == {("succeeded", 0)}
        assert not Call.objects.filter(state__in=["waiting", "intent"]).exists()


def hurry():
    """Skip the wait of every batch that has collected its calls, as if its time had passed."""
    asleep = Batch.objects.filter(status="queued", run_after__gt=Now()).annotate(now=Now())
    for batch in asleep.exclude(collected_at=None):
        wait = batch.run_after - batch.now
        Batch.objects.filter(pk=batch.pk, run_after=batch.run_after).update(
            run_after=F("run_after") - wait,
            create_sent_at=F("create_sent_at") - wait,
            missed_since=F("missed_since") - wait,
        )


def opened(service, monkeypatch, settings, tmp_path, **columns):
    """Tell this process and its workers to use a vendor on this machine."""
    vendor = GeminiVendor() if service == "gemini" else OpenAIVendor()
    told = {
        "LLM_PROVIDER": service,
        f"{service.upper()}_API_KEY": "recognisable",
        f"{service.upper()}_TEXT_MODEL": MODEL,
        f"{service.upper()}_BASE_URL": vendor.base_url,
        "ANSWERS_FOLDER": str(tmp_path / "answers"),
        "BATCH_COLLECT_SECONDS": "0.5",
    }
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    settings.LLM_PROVIDER = service
    setattr(settings, f"{service.upper()}_TEXT_MODEL", MODEL)
    vendor.finish_after = 2
    defaults = {"requests_per_minute": None, "strategy": Strategy.BATCH, **PRICES}
    Provider.objects.create(name=f"{service}:{MODEL}", **{**defaults, **columns})
    return Office(vendor, service)


@pytest.fixture
def office(transactional_db, monkeypatch, settings, tmp_path):
    """Gemini: its package is loaded in the process that workers are forked from."""
    office = opened("gemini", monkeypatch, settings, tmp_path)
    with office.vendor:
        yield office


@pytest.fixture
def openai_office(transactional_db, monkeypatch, settings, tmp_path):
    office = opened("openai", monkeypatch, settings, tmp_path)
    with office.vendor:
        yield office


# Stopping a worker at a named point


def at(where, code):
    """Code for a worker process: what happens in the named function, `real` is its work."""
    return f"""
import django; django.setup()
import os, pathlib
import jobs.paid.batches.course, jobs.queue, jobs.storage.folder
from tests.testapp.models import wait_at_gate
calls = []
real = {where}
def stopped(*arguments, **options):
    calls.append(1)
    {code}
{where} = stopped
"""


def dying_at(where, code=DIE):
    return at(where, code)


def waiting_at(where, call=1):
    """Hold the worker before this call of the function, until the test opens its gate."""
    wait = "pathlib.Path(os.environ['GATE'] + '.reached').touch(); wait_at_gate(0)"
    return at(where, f"if len(calls) == {call}: {wait}\n    return real(*arguments, **options)")


def has_reached(worker):
    return Path(f"{worker.gate}.reached").exists()


def expect_death(worker):
    assert worker.exit_code() == -signal.SIGKILL
    expire(worker)


def expire(worker):
    for model in (LLMJob, Batch):
        worker.expire(model)


def end(worker):
    with suppress(ProcessLookupError):
        worker.kill()
    expire(worker)
