"""Words: the same request and the same answer for every service."""

import json

import pytest

from jobs.errors import GarbageAnswer, OperatorsFault, RequestRefused
from jobs.paid.clients.openai import OpenAI
from tests.jobs.clients import answers
from tests.jobs.clients.conftest import MODEL

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
    "additionalProperties": False,
}
REQUEST = {
    "system": "Be brief.",
    "messages": [
        {"role": "user", "content": "A castle?"},
        {"role": "assistant", "content": "Yes."},
        {"role": "user", "content": "Its name?"},
    ],
    "schema": SCHEMA,
    "max_tokens": 50,
    "temperature": 0.5,
}


def completion(content="Himeji", finish="stop", usage=(7, 3), **message):
    told = {"role": "assistant", "content": content, **message}
    return answers.json_answer(
        {
            "id": "chatcmpl-1",
            "model": "gpt-6-2026",
            "choices": [{"index": 0, "message": told, "finish_reason": finish}],
            "usage": {"prompt_tokens": usage[0], "completion_tokens": usage[1]},
        },
        X_Request_Id="req-1",
    )


def generated(*parts, finish="STOP", **usage):
    body = answers.candidate([{"text": part} for part in parts] or [], finish=finish)
    return answers.json_answer(
        {**body, "modelVersion": "gemini-2026", "usageMetadata": usage or {"promptTokenCount": 7}}
    )


def told(answer):
    return json.loads(answer.raw)


def test_gemini_is_asked_in_its_own_words(service, gemini):
    service.script = [generated("Hi", "meji", promptTokenCount=7, candidatesTokenCount=3)]

    answer = gemini.text(MODEL, REQUEST, 10)

    [entry] = service.ledger
    assert entry.path == f"/v1/models/{MODEL}:generateContent"
    assert entry.request == {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "A castle?"}]},
            {"role": "model", "parts": [{"text": "Yes."}]},
            {"role": "user", "parts": [{"text": "Its name?"}]},
        ],
        "generationConfig": {
            "responseMimeType": "application/json",
            "responseJsonSchema": SCHEMA,
            "maxOutputTokens": 50,
            "temperature": 0.5,
        },
    }
    assert told(answer) == {
        "text": "Himeji",
        "finish": "stop",
        "refusal": "",
        "model": "gemini-2026",
        "input_tokens": 7,
        "output_tokens": 3,
    }
    assert (answer.input_tokens, answer.output_tokens, answer.cost) == (7, 3, None)
    assert answer.remote_id == "answer-0"


def test_openai_is_asked_in_its_own_words(service, openai):
    service.script = [completion()]

    answer = openai.text(MODEL, REQUEST, 10)

    [entry] = service.ledger
    assert entry.path == "/v1/chat/completions"
    assert entry.request == {
        "model": MODEL,
        "messages": [{"role": "system", "content": "Be brief."}, *REQUEST["messages"]],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": SCHEMA, "strict": True},
        },
        "max_completion_tokens": 50,
        "temperature": 0.5,
    }
    assert told(answer) == {
        "text": "Himeji",
        "finish": "stop",
        "refusal": "",
        "model": "gpt-6-2026",
        "input_tokens": 7,
        "output_tokens": 3,
    }
    assert (answer.input_tokens, answer.output_tokens, answer.remote_id) == (7, 3, "req-1")


def test_a_prompt_alone_is_enough(service, client):
    service.script = [lambda talk: (generated if talk.speaks_gemini else completion)("x")(talk)]

    assert told(client.text(MODEL, {"prompt": "A castle?"}, 10))["text"] == "x"

    [entry] = service.ledger
    assert entry.prompt == "A castle?"
    assert entry.request.get("generationConfig", {}) == {}
    assert entry.request.keys() <= {"model", "messages", "contents", "generationConfig"}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"type": "string"}}},
        {**SCHEMA, "required": []},
        {**SCHEMA, "properties": {"name": {"type": "string", "maxLength": 3}}},
        {**SCHEMA, "properties": {"name": {"type": "array", "items": {"type": "object"}}}},
        {**SCHEMA, "properties": {"name": {"anyOf": [{"type": ["object", "null"]}]}}},
        {**SCHEMA, "properties": {"name": True}},
        {"type": "array", "items": {"type": "string"}},
        {"anyOf": [SCHEMA]},
    ],
)
def test_strictness_is_asked_of_openai_only_for_schemas_that_allow_it(service, openai, schema):
    service.script = [completion()]

    openai.text(MODEL, {"prompt": "A castle?", "schema": schema}, 10)

    assert service.ledger[0].request["response_format"]["json_schema"]["strict"] is False


@pytest.mark.parametrize(
    ("finish", "word"),
    [("MAX_TOKENS", "length"), ("SAFETY", "refused"), ("OTHER", "other")],
)
def test_the_end_of_geminis_words_is_told_and_not_judged(service, gemini, finish, word):
    service.script = [generated("Hime", finish=finish, promptTokenCount=1)]

    answer = told(gemini.text(MODEL, REQUEST, 10))

    assert (answer["text"], answer["finish"]) == ("Hime", word)
    assert answer["refusal"] == ("SAFETY" if word == "refused" else "")
    assert answer["output_tokens"] is None


@pytest.mark.parametrize(
    ("finish", "message", "word", "refusal"),
    [
        ("length", {}, "length", ""),
        ("content_filter", {}, "refused", "content_filter"),
        ("stop", {"refusal": "I would rather not"}, "refused", "I would rather not"),
        ("tool_calls", {}, "tool_calls", ""),
    ],
)
def test_the_end_of_openais_words_is_told(service, openai, finish, message, word, refusal):
    service.script = [completion(None, finish, **message)]

    answer = told(openai.text(MODEL, REQUEST, 10))

    assert (answer["text"], answer["finish"], answer["refusal"]) == ("", word, refusal)


def test_thoughts_are_paid_and_not_shown(service, gemini):
    parts = [{"text": "Let me think", "thought": True}, {"text": "Himeji"}]
    usage = {"promptTokenCount": 7, "candidatesTokenCount": 3, "thoughtsTokenCount": 40}
    service.script = [answers.json_answer({**answers.candidate(parts), "usageMetadata": usage})]

    answer = told(gemini.text(MODEL, REQUEST, 10))

    assert (answer["text"], answer["output_tokens"]) == ("Himeji", 43)


def test_a_blocked_prompt_is_refused_and_not_billed(service, gemini):
    service.script = [answers.blocked()]

    with pytest.raises(RequestRefused) as caught:
        gemini.text(MODEL, REQUEST, 10)

    assert not caught.value.billed


@pytest.mark.parametrize("body", [{}, {"candidates": [], "choices": []}, {"choices": [7]}])
def test_json_without_words_is_garbage(service, client, body):
    service.script = [answers.json_answer(body)]

    with pytest.raises(GarbageAnswer):
        client.text(MODEL, REQUEST, 10)


@pytest.mark.parametrize("usage", [None, "many", {"prompt_tokens": "7"}, {"prompt_tokens": -1}])
def test_a_count_of_tokens_that_is_none_is_left_open(service, openai, usage):
    choice = {"message": {"content": "x"}, "finish_reason": "stop"}
    service.script = [answers.json_answer({"choices": [choice], "usage": usage})]

    answer = openai.text(MODEL, REQUEST, 10)

    assert (answer.input_tokens, answer.output_tokens) == (None, None)
    assert told(answer)["model"] == MODEL


def test_an_unknown_model_names_the_setting_of_text(service, client):
    service.script = [answers.status(404)]

    with pytest.raises(OperatorsFault, match="_TEXT_MODEL"):
        client.text(MODEL, REQUEST, 10)


def test_a_local_server_needs_no_key(service):
    service.script = [completion()]

    OpenAI("", f"{service.url}/v1").text(MODEL, REQUEST, 10)

    [entry] = service.ledger
    assert entry.request["max_tokens"] == 50
    assert entry.headers["authorization"] == "Bearer no-key-needed"
