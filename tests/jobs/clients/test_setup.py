import importlib.util
import subprocess
import sys

import pytest
from django.core.exceptions import ImproperlyConfigured

from jobs.paid.clients.gemini import Gemini
from jobs.paid.clients.openai import OpenAI


@pytest.mark.parametrize(
    ("kind", "provider", "package"),
    [(Gemini, "gemini", "google-genai"), (OpenAI, "openai", "openai")],
)
@pytest.mark.parametrize("missing", [None, ModuleNotFoundError("No module named 'google'")])
def test_a_missing_package_names_the_command(monkeypatch, kind, provider, package, missing):
    def find_spec(name):
        if missing:
            raise missing

    monkeypatch.setattr("jobs.paid.clients.setup.find_spec", find_spec)

    with pytest.raises(ImproperlyConfigured) as caught:
        kind("key")

    assert str(caught.value) == (
        f"{provider} needs the package {package}: pip install -r requirements-{provider}.txt"
    )


@pytest.mark.parametrize(
    ("kind", "variable"), [(Gemini, "GEMINI_API_KEY"), (OpenAI, "OPENAI_API_KEY")]
)
@pytest.mark.parametrize("key", ["", "  "])
def test_a_missing_key_names_the_variable(kind, variable, key):
    with pytest.raises(ImproperlyConfigured, match=f"{variable} is not set"):
        kind(key)


@pytest.mark.parametrize("kind", [Gemini, OpenAI])
@pytest.mark.parametrize("key", ["se\ncret", "se cret", "秘密", "se\x00cret"])
def test_a_key_that_no_header_can_carry_is_refused_unseen(kind, key):
    with pytest.raises(ImproperlyConfigured, match="_API_KEY contains") as caught:
        kind(key)

    assert key not in str(caught.value)


@pytest.mark.parametrize("kind", [Gemini, OpenAI])
def test_an_address_must_be_one(kind):
    with pytest.raises(ImproperlyConfigured, match="_BASE_URL must begin with http"):
        kind("key", "api.example.com")


def test_neither_sdk_is_imported_before_it_is_used():
    code = """
import sys
from jobs.paid.clients.gemini import Gemini
from jobs.paid.clients.openai import OpenAI
Gemini("key"), OpenAI("key")
print([name for name in ("google.genai", "openai", "httpx2", "pydantic") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
    assert importlib.util.find_spec("google.genai")
