"""The vendors of our tests are understood by the vendors' own packages."""

import json
from datetime import UTC, datetime

import pytest

from jobs.paid.clients.gemini import Gemini
from jobs.paid.clients.gemini_batches import GeminiBatches
from tests.jobs.clients.protocols import import_sdks
from tests.jobs.vendors.gemini import GeminiVendor
from tests.jobs.vendors.lines import jsonl
from tests.jobs.vendors.openai import OpenAIVendor

URL = "/v1/chat/completions"


@pytest.fixture(scope="module", autouse=True)
def sdks():
    import_sdks()


def test_openais_package_makes_a_batch(tmp_path):
    import openai

    asked = {"model": "gpt-6", "messages": [{"role": "user", "content": "a castle"}]}
    line = {"custom_id": "a", "method": "POST", "url": URL, "body": asked}
    with OpenAIVendor() as vendor, openai.OpenAI(api_key="k", base_url=vendor.base_url) as sdk:
        file = sdk.files.create(file=("batch.jsonl", jsonl([line])), purpose="batch")
        batch = sdk.batches.create(
            input_file_id=file.id,
            endpoint=URL,
            completion_window="24h",
            metadata={"tabie": "token"},
        )
        assert batch.status == "validating"
        assert [item.id for item in sdk.batches.list()] == [batch.id]
        vendor.advance(vendor.batch("token"), "completed")

        batch = sdk.batches.retrieve(batch.id)

        assert (batch.status, batch.request_counts.completed) == ("completed", 1)
        [result] = sdk.files.content(batch.output_file_id).text.splitlines()
        said = json.loads(result)["response"]["body"]["choices"][0]["message"]["content"]
        assert said == "Words about a castle"
        assert vendor.billed == {"a": 1}
        assert sdk.chat.completions.create(**asked).usage.prompt_tokens == 2
        assert vendor.bought == {"a castle": 2}


def test_googles_package_makes_a_batch(tmp_path):
    from google import genai

    line = {"key": "a", "request": {"contents": [{"parts": [{"text": "a castle"}]}]}}
    (tmp_path / "lines.jsonl").write_bytes(jsonl([line]))
    with GeminiVendor() as vendor:
        options = {"base_url": vendor.base_url, "timeout": 20_000}
        sdk = genai.Client(api_key="k", vertexai=False, http_options=options)
        file = sdk.files.upload(
            file=tmp_path / "lines.jsonl", config={"mime_type": "application/jsonl"}
        )
        batch = sdk.batches.create(
            model="gemini-3.8-flash", src=file.name, config={"display_name": "token"}
        )
        assert batch.state.name == "JOB_STATE_PENDING"
        assert [item.name for item in sdk.batches.list()] == [batch.name]
        vendor.results_in = "metadata"  # the package looks nowhere else
        vendor.advance(vendor.batch("token"), "completed")

        batch = sdk.batches.get(name=batch.name)

        assert batch.state.name == "JOB_STATE_SUCCEEDED"
        [result] = sdk.files.download(file=batch.dest.file_name).decode().splitlines()
        [part] = json.loads(result)["response"]["candidates"][0]["content"]["parts"]
        assert part["text"] == "Words about a castle"
        assert vendor.billed == {"a": 1}
        answer = sdk.models.generate_content(model="gemini-3.8-flash", contents="a castle")
        assert answer.text == "Words about a castle"
        assert vendor.bought == {"a castle": 2}


def test_gemini_is_asked_as_its_package_asks(tmp_path):
    """Our client writes Gemini's requests by itself, because the package drops what we need."""
    from google import genai

    file = tmp_path / "lines.jsonl"
    line = {"key": "a", "request": {"contents": [{"parts": [{"text": "a castle"}]}]}}
    file.write_bytes(jsonl([line]))

    def by_package(vendor):
        sdk = genai.Client(api_key="k", vertexai=False, http_options={"base_url": vendor.base_url})
        config = {"mime_type": "application/jsonl", "display_name": "token"}
        name = sdk.files.upload(file=file, config=config).name
        batch = sdk.batches.create(model="m", src=name, config={"display_name": "token"})
        list(sdk.batches.list(config={"page_size": 100}))
        sdk.batches.get(name=batch.name)
        sdk.batches.cancel(name=batch.name)

    def by_us(vendor):
        batches = GeminiBatches(Gemini("k", vendor.base_url))
        batch = batches.create("m", "text", batches.upload(file, "token", 20), "token", 20)
        batches.find("token", datetime.now(UTC), 20)
        batches.look(batch.id, 20)
        batches.cancel(batch.id, 20)

    assert asked_of(GeminiVendor(), by_us) == asked_of(GeminiVendor(), by_package)


def asked_of(vendor, ask):
    with vendor:
        ask(vendor)
        return [
            (entry.step, entry.path, entry.request, upload_headers(entry))
            for entry in vendor.ledger
        ]


def upload_headers(entry):
    """Those that count: the package repeats the headers of the first request in the others."""
    names = ["command", "offset"]
    if entry.step == "begin":
        names += ["protocol", "header-content-length", "header-content-type"]
    return [entry.headers.get(f"x-goog-upload-{name}") for name in names]
