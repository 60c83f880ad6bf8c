"""One client of each service, made of the settings."""

import subprocess
import sys

import pytest
from django.core.exceptions import ImproperlyConfigured

from jobs.paid.clients import services
from jobs.paid.clients.gemini_batches import GeminiBatches
from jobs.paid.clients.openai_batches import OpenAIBatches


@pytest.fixture(autouse=True)
def keys(settings):
    settings.GEMINI_API_KEY = settings.OPENAI_API_KEY = "key"
    settings.GEMINI_BASE_URL = settings.OPENAI_BASE_URL = ""


def test_a_client_is_made_once(settings):
    first = services.service("gemini")

    assert services.service("gemini") is first
    settings.GEMINI_BASE_URL = "http://127.0.0.1:1"
    assert services.service("gemini").base_url == "http://127.0.0.1:1"


def test_an_unknown_service_is_named():
    with pytest.raises(ImproperlyConfigured, match="no service painter"):
        services.service("painter")


@pytest.mark.parametrize(
    ("provider", "kind"),
    [
        ("gemini:gemini-3.8-flash", GeminiBatches),
        ("openai:gpt-6", OpenAIBatches),
        ("painter", type(None)),
        ("scribe", type(None)),
        ("nobody:knows", type(None)),
    ],
)
def test_batches_are_offered_by_the_paid_services(provider, kind):
    assert type(services.batch_client(provider)) is kind
    assert services.has_batches(provider) is (kind is not type(None))


def test_a_name_has_two_halves():
    assert services.split("openai:ft:gpt-6:x") == ("openai", "ft:gpt-6:x")
    assert services.split("painter") == ("painter", "")


def test_an_address_without_a_key_is_local(settings):
    settings.OPENAI_API_KEY, settings.OPENAI_BASE_URL = " ", "http://127.0.0.1:11434/v1"

    assert services.is_local("openai")
    assert not services.is_local("gemini")
    assert services.service("openai").is_local
    assert services.batch_client("openai:llama") is None


def test_gemini_needs_a_key_at_any_address(settings):
    settings.GEMINI_API_KEY, settings.GEMINI_BASE_URL = "", "http://127.0.0.1:1"

    assert not services.is_local("gemini")
    with pytest.raises(ImproperlyConfigured, match="GEMINI_API_KEY is not set"):
        services.service("gemini")


def test_no_sdk_is_imported_to_know_about_batches():
    code = """
import sys
from django.conf import settings
settings.configure(OPENAI_API_KEY="k", OPENAI_BASE_URL="", GEMINI_API_KEY="k", GEMINI_BASE_URL="")
from jobs.paid.clients import services
assert services.has_batches("openai:m") and services.batch_client("gemini:m")
print([name for name in ("google.genai", "openai", "httpx2", "pydantic") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
