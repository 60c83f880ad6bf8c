"""LLM_PROVIDER chooses the writer; nothing but its name is needed to show pages."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from jobs import llm
from jobs.llm import writers, writing
from jobs.llm.models import LLMJob
from jobs.models import Provider
from jobs.paid import calls, limits
from jobs.paid.clients import Answer, services
from tests.jobs.llm.conftest import raw, work


class Client:
    """A service's client, as far as writers know it."""

    def __init__(self):
        self.sent = []
        self.sdk = self

    def text(self, model, request, timeout):
        self.sent.append((model, request))
        return Answer(raw=raw("Hello"))


@pytest.fixture
def client(monkeypatch):
    client = Client()
    monkeypatch.setattr(services, "service", lambda name: client)
    return client


@pytest.fixture
def chosen(settings):
    def choose(name):
        settings.LLM_PROVIDER = name
        settings.GEMINI_TEXT_MODEL, settings.OPENAI_TEXT_MODEL = "g-1", "o-1"
        settings.OPENAI_BASE_URL = settings.OPENAI_API_KEY = ""

    return choose


@pytest.mark.parametrize(
    ("name", "provider"), [("scribe", "scribe"), ("gemini", "gemini:g-1"), ("openai", "openai:o-1")]
)
def test_the_provider_is_service_and_model(chosen, name, provider):
    chosen(name)

    assert LLMJob.provider_name() == provider


def test_a_registered_writer_can_be_chosen(quill):
    assert writers.chosen() is quill
    assert LLMJob.provider_name() == "quill"
    assert LLMJob.provider_is_free()


@pytest.mark.parametrize("name", ["gemini", "openai"])
def test_a_service_is_asked_through_its_client(
    chosen, client, name, pictures, transactional_db, monkeypatch
):
    chosen(name)
    Provider.objects.create(name=LLMJob.provider_name(), requests_per_minute=None)
    llm.submit([{"prompt": "Hi", "max_tokens": 5}], label="One")

    work()

    job = LLMJob.objects.get()
    assert client.sent == [(f"{name[0]}-1", {"prompt": "Hi", "max_tokens": 5})]
    assert job.response_json["provider"] == f"{name}:{name[0]}-1"
    assert not LLMJob.provider_is_free()


@pytest.mark.django_db
def test_the_strategy_of_a_new_provider_is_a_setting(chosen, settings):
    chosen("openai")
    settings.LLM_BULK_STRATEGY = "batch"

    assert limits.find(LLMJob.provider_name()).strategy == "batch"


def test_a_local_server_is_free(chosen, settings):
    chosen("openai")
    settings.OPENAI_BASE_URL = "http://127.0.0.1:11434/v1"

    assert LLMJob.provider_is_free()
    settings.OPENAI_API_KEY = "a-key"
    assert not LLMJob.provider_is_free()


@pytest.mark.django_db
def test_a_local_server_answers_at_once_although_the_strategy_is_batch(chosen, settings, client):
    chosen("openai")
    settings.OPENAI_BASE_URL = "http://127.0.0.1:11434/v1"
    settings.LLM_BULK_STRATEGY = "batch"
    llm.submit([{"prompt": "Hi"}], label="x")
    work()

    assert LLMJob.objects.get().response_json["text"] == "Hello"


def test_a_worker_does_not_start_without_what_its_writer_needs(chosen, monkeypatch):
    def refuse(name):
        raise ImproperlyConfigured(f"{name} has no key")

    chosen("gemini")
    monkeypatch.setattr(services, "service", refuse)

    with pytest.raises(ImproperlyConfigured, match="gemini has no key"):
        LLMJob.check_setup()


def test_a_worker_does_not_start_without_a_model(chosen, settings):
    chosen("openai")
    settings.OPENAI_TEXT_MODEL = ""

    with pytest.raises(ImproperlyConfigured, match="OPENAI_TEXT_MODEL is not set"):
        LLMJob.check_setup()
    assert LLMJob.provider_name() == "openai"


def test_a_worker_does_not_start_with_an_unknown_writer(chosen):
    chosen("quil")

    with pytest.raises(ImproperlyConfigured, match=r"LLM_PROVIDER=quil: known are gemini, "):
        LLMJob.check_setup()


def test_pages_show_an_unknown_writer_by_its_name(chosen):
    chosen("quil")

    assert LLMJob.provider_name() == "quil"
    assert not LLMJob.provider_is_free()


def test_a_project_without_language_models_needs_no_setting(settings):
    del settings.LLM_PROVIDER

    assert LLMJob.provider_name() is None
    LLMJob.check_setup()


def test_a_request_nobody_can_answer_waits_for_an_operator(quill, settings):
    llm.submit([{"prompt": "Hi"}], label="One")
    settings.LLM_PROVIDER = ""

    work()

    job = LLMJob.objects.get()
    assert (job.status, job.attempts, job.error_kind) == ("queued", 0, "OperatorsFault")
    assert "LLM_PROVIDER" in job.last_error


def test_the_most_a_request_can_cost_is_known_before_it_is_sent(quill, monkeypatch):
    asked = []
    buy = calls.buy

    def note(run, payload_hash, send, **options):
        asked.append(options)
        return buy(run, payload_hash, send, **options)

    monkeypatch.setattr(writing.calls, "buy", note)
    llm.submit([{"prompt": "嵐" * 100, "max_tokens": 70}], label="One")

    work()

    [options] = asked
    most_input, most_output = options["most_tokens"]
    assert most_input >= 300
    assert most_output == 70
    assert options["request"] == {"form": "text", "prompt": "嵐" * 100, "max_tokens": 70}
