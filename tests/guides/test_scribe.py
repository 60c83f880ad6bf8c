"""The scribe answers any request by itself, always the same way."""

import json
import time
from datetime import timedelta

import pytest

from guides import scribe
from guides.scribe import Scribe, Unwritable
from jobs import llm, queue
from jobs.llm import writers
from jobs.llm.models import LLMJob
from jobs.models import Outcome
from jobs.queue.outcomes import End
from tests.guides.painting import perform
from tests.guides.scribing import OUTLINE, fill, write


def test_it_is_there_for_requests():
    assert isinstance(writers.WRITERS["scribe"], Scribe)


@pytest.mark.django_db
def test_it_answers_a_request_of_any_domain(pictures):
    process = llm.submit([{"prompt": "A guide to Lisbon", "schema": OUTLINE}], label="outlines")
    [job] = queue.claim(LLMJob, 1, "tester", timedelta(hours=1))

    queue.settle([End(job, Outcome.SUCCEEDED, result=perform(job))])

    [result] = llm.results(process.id)
    assert result.state == "COMPLETED"
    assert "Lisbon, slowly" in json.dumps(result.response_json)


def test_its_answer_has_the_form_of_every_writer():
    answer = write("Tell me about Kyoto.")

    assert answer.pop("text").startswith("Kyoto")
    assert answer.pop("output_tokens") > 10
    assert answer == {"finish": "stop", "refusal": "", "model": "scribe", "input_tokens": 5}


def test_the_same_request_gives_the_same_bytes():
    request = {"prompt": "About Kyoto", "schema": OUTLINE}

    assert Scribe().write(request, 5).raw == Scribe().write(dict(request), 5).raw


def test_another_prompt_gives_another_guide():
    first, second = (fill(OUTLINE, f"A guide to {place}") for place in ("Kyoto", "Lisbon"))

    assert first != second
    assert first["title"] == "Kyoto, slowly"


def test_an_outline_reads_like_a_guide():
    guide = fill(OUTLINE, 'Write an outline.\nDestination: "Lisbon, Portugal"\n5 spots, 2 days.')

    assert guide["destination"] == "Lisbon, Portugal"
    assert guide["language"] == "en"
    assert len(guide["spots"]) == len({spot["name"] for spot in guide["spots"]}) == 5
    assert all(spot["name"].startswith("Lisbon ") for spot in guide["spots"])


@pytest.mark.parametrize(
    "prompt",
    [
        "広島県の旅のガイドを書いてください。",
        "Destination: Hiroshima\nLanguage: ja",
        "Write about Hiroshima in Japanese.",
    ],
)
def test_it_writes_japanese_where_it_is_asked_to(prompt):
    guide = fill(OUTLINE, prompt)

    assert guide["language"] == "ja"
    assert "ゆっくり" in guide["title"]
    assert guide["spots"][0]["description"].endswith("。")


def test_a_japanese_name_does_not_make_an_english_prompt_japanese():
    assert fill(OUTLINE, "Write a guide to the islands around 厳島.")["language"] == "en"


def test_the_language_of_the_schema_wins():
    schema = {**OUTLINE, "properties": {**OUTLINE["properties"], "language": {"const": "ja"}}}

    assert "ゆっくり" in fill(schema, "A guide to Lisbon")["title"]


def test_the_spot_of_the_prompt_keeps_its_name():
    schema = {"type": "object", "properties": {"spot_name": {"type": "string"}}}

    assert fill(schema, "Spot: Kinkaku-ji\nDestination: Kyoto") == {"spot_name": "Kinkaku-ji"}


def test_messages_are_read_as_a_prompt_is():
    said = [{"role": "user", "content": "Tell me about Lisbon."}]

    assert json.loads(Scribe().write({"messages": said}, 5).raw)["text"].startswith("Lisbon")


def test_a_limit_that_is_too_small_cuts_it_off():
    answer = write("東京について書いてください。", max_tokens=7)

    assert (answer["finish"], answer["output_tokens"]) == ("length", 7)
    assert write(max_tokens=500)["finish"] == "stop"


def test_it_takes_the_time_it_is_given(settings, monkeypatch):
    settings.SCRIBE_SECONDS, waited = 1.5, []
    monkeypatch.setattr(scribe.time, "sleep", waited.append)

    write()

    assert waited == [1.5]


def test_it_fails_where_it_is_asked_to():
    with pytest.raises(Unwritable, match="unwritable") as failed:
        write("An unwritable guide")
    assert not failed.value.billed


@pytest.mark.parametrize("prompt", ["\n" * 200_000, "A" * 200_000, "a: " * 70_000, '"' * 200_000])
def test_no_prompt_takes_long_to_read(prompt):
    before = time.process_time()  # of this process alone, however busy the machine is

    fill(OUTLINE, prompt)

    assert time.process_time() - before < 2
