"""A request is checked when it is submitted; the error names the value."""

import re
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.llm import requests, schemas
from jobs.llm.requests import InvalidRequest

OBJECT = {"type": "object", "properties": {"name": {"type": "string"}}}
LOOP = {"type": "object", "properties": {"child": {"$ref": "#"}}}
LINKED = {"$ref": "#/$defs/name", "$defs": {"name": {"type": "string"}}}


def check(request):
    kept, _ = requests.checked(request, "requests[3]")
    return kept


def nested(levels):
    schema = {}
    for _ in range(levels):
        schema = {"items": schema}
    return schema


@pytest.mark.parametrize(
    "request_json",
    [
        {"prompt": "Hello"},
        {"system": "", "prompt": "旅絵 🎨"},
        {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes?"}]},
        {"prompt": "x", "schema": OBJECT, "max_tokens": 1, "temperature": 0},
        {"prompt": "x", "schema": LOOP, "max_tokens": 1_000_000, "temperature": 1.5},
        {"prompt": "x", "schema": LINKED},
        {"prompt": "x", "schema": {"$id": "https://example.org/s", **OBJECT}},
    ],
)
def test_a_good_request_is_kept_as_it_is(request_json):
    assert check(request_json) == request_json


@pytest.mark.parametrize(
    ("request_json", "error"),
    [
        ("Hello", "requests[3]: must be a dict, not str"),
        ({}, "requests[3]: must have either a prompt or messages"),
        (
            {"prompt": "x", "messages": [{"role": "user", "content": "x"}]},
            "requests[3]: must have either a prompt or messages",
        ),
        ({"prompt": "x", "top_p": 1}, "requests[3]: unknown key 'top_p': known are system, prompt"),
        ({"prompt": "x", 5: 1}, "requests[3]: unknown key 5: known are"),
        ({"prompt": None}, "requests[3].prompt: must be a text, not NoneType"),
        ({"prompt": b"x"}, "requests[3].prompt: must be a text, not bytes"),
        ({"prompt": " \n"}, "requests[3].prompt: must not be empty"),
        ({"prompt": "a\0b"}, "requests[3].prompt: contains NUL"),
        ({"prompt": "é\ud800"}, "requests[3].prompt: contains half a character ('\\ud800' at 1)"),
        ({"prompt": "x", "system": 5}, "requests[3].system: must be a text, not int"),
        ({"messages": []}, "requests[3].messages: must be a list of messages, not an empty list"),
        ({"messages": "x"}, "requests[3].messages: must be a list of messages, not str"),
        ({"messages": ["x"]}, "requests[3].messages[0]: must be a dict, not str"),
        (
            {"messages": [{"role": "user", "content": "x"}, {"role": "robot", "content": "x"}]},
            "requests[3].messages[1].role: must be user or assistant, not 'robot'",
        ),
        ({"messages": [{"role": []}]}, "requests[3].messages[0].role: must be user or assistant"),
        ({"messages": [{"role": "user"}]}, "requests[3].messages[0].content: must be a text"),
        (
            {"messages": [{"role": "user", "content": "\0"}]},
            "requests[3].messages[0].content: contains NUL",
        ),
        (
            {"messages": [{"role": "user", "content": "x", "name": "y"}]},
            "requests[3].messages[0]: unknown key 'name'",
        ),
        *(
            (
                {"prompt": "x", "max_tokens": wrong},
                "requests[3].max_tokens: must be a whole number from 1 to 1,000,000, not",
            )
            for wrong in (0, -1, 1.5, True, "5", 1_000_001, None)
        ),
        *(
            (
                {"prompt": "x", "temperature": wrong},
                "requests[3].temperature: must be a number from 0 to 2, not",
            )
            for wrong in (-0.1, 2.1, float("nan"), float("inf"), "1", True, None)
        ),
        ({"prompt": "x" * (4 * 1024 * 1024 + 1)}, "requests[3]: 4,194,305 bytes are too many"),
        ({"prompt": "x", "schema": True}, "requests[3].schema: must be a JSON Schema (a dict)"),
        ({"prompt": "x", "schema": {}}, "(a dict), not an empty dict"),
        ({"prompt": "x", "schema": {"type": "text"}}, "requests[3].schema.type: 'text' is not"),
        (
            {"prompt": "x", "schema": {"properties": {"a": {"minimum": "0"}}}},
            "requests[3].schema.properties.a.minimum: '0' is not of type 'number'",
        ),
        ({"prompt": "x", "schema": {"pattern": "["}}, "requests[3].schema.pattern: '[' is not a"),
        ({"prompt": "x", "schema": {"const": {1, 2}}}, "requests[3].schema: is no JSON"),
        ({"prompt": "x", "schema": {"const": float("nan")}}, "requests[3].schema: is no JSON"),
        ({"prompt": "x", "schema": {"enum": ["a\0"]}}, "requests[3].schema.enum[0]: contains NUL"),
        ({"prompt": "x", "schema": {"a\ud800": 1}}, "requests[3].schema: has the key"),
        ({"prompt": "x", "schema": nested(70)}, "nested too deeply: at most 64 levels"),
        ({"prompt": "x", "schema": nested(5000)}, "requests[3].schema: is no JSON"),
        ({"prompt": "x", "schema": {"$ref": "#/$defs/gone"}}, "requests[3].schema: nothing is at"),
        (
            {"prompt": "x", "schema": {"items": {"$ref": "https://example.org/s.json"}}},
            "requests[3].schema: nothing is at 'https://example.org/s.json', and no address is",
        ),
        ({"prompt": "x", "schema": {"$ref": "#"}}, "refers to itself without end"),
    ],
)
def test_a_wrong_value_is_refused_with_its_path(request_json, error):
    with pytest.raises(InvalidRequest, match=re.escape(error)) as refused:
        check(request_json)

    assert str(refused.value).startswith("requests[3]")


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text() | st.binary(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(st.sampled_from([*requests.CHECKS, "role", "content", "type"]), inner)
        ),
        max_leaves=12,
    )
)
def test_anything_is_either_kept_or_refused(value):
    with suppress(InvalidRequest):
        check(value)


def test_a_schema_is_checked_once():
    schemas.compiled.cache_clear()

    for number in range(50):
        check({"prompt": f"Spot {number}", "schema": dict(OBJECT)})

    assert schemas.compiled.cache_info().misses == 1


def test_ten_thousand_requests_take_no_time():
    started_at = time.process_time()  # of this process alone: a busy machine changes nothing

    for number in range(10_000):
        check({"system": "s" * 500, "prompt": f"Spot {number}", "schema": OBJECT})

    assert time.process_time() - started_at < 5


# Hash and tokens


def test_the_hash_names_request_schema_service_and_model():
    request = {"prompt": "x", "schema": OBJECT}
    different = [
        ({"prompt": "y", "schema": OBJECT}, "gemini:a"),
        ({"prompt": "x", "schema": {"type": "object"}}, "gemini:a"),
        ({"prompt": "x"}, "gemini:a"),
        (request, "gemini:b"),
        (request, "openai:a"),
        (request, "gemini:a"),
    ]

    assert len({requests.payload_hash(*each) for each in different}) == len(different)


def test_the_hash_does_not_depend_on_the_order_of_keys():
    one = requests.payload_hash({"prompt": "x", "schema": {"a": 1, "b": 2}}, "quill")
    other = requests.payload_hash({"schema": {"b": 2, "a": 1}, "prompt": "x"}, "quill")

    assert one == other


def test_a_byte_is_at_most_a_token():
    assert requests.most_input_tokens({"prompt": "旅絵" * 100}) >= 600
