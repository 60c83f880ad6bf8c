"""Lines of a result file: answers, errors, and what is neither."""

import json

import pytest

from jobs.errors import (
    BadRequest,
    GarbageAnswer,
    OperatorsFault,
    ProviderUnavailable,
    RequestRefused,
)
from jobs.paid.clients import lines
from tests.jobs.clients import answers
from tests.jobs.clients.conftest import KEY, MODEL, only_gemini, only_openai
from tests.jobs.vendors import base
from tests.jobs.vendors.base import Fault
from tests.jobs.vendors.lines import jsonl


@pytest.fixture
def read(batches, tmp_path):
    """The results of a file with these lines."""

    def read(*found, form="text"):
        file = tmp_path / "results.jsonl"
        file.write_bytes(jsonl(found))
        return list(batches.results(MODEL, form, file))

    return read


@pytest.fixture
def answered(vendor, batches, made, fetched):
    """The results of a batch that ended like this."""

    def answered(*prompts, state="completed", count=None):
        remote = made(*prompts)
        vendor.advance(vendor.batch("token-1"), state, answered=count)
        return fetched(batches.look(remote.id, 20))

    return answered


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault(400, "invalid_request_error"), BadRequest),
        (Fault(422, "unprocessable"), BadRequest),
        (Fault(429, "rate_limit_exceeded"), ProviderUnavailable),
        (Fault(500, "server_error"), ProviderUnavailable),
        (Fault(502, "bad_gateway"), ProviderUnavailable),
        (Fault(503, "unavailable"), ProviderUnavailable),
        (Fault(504, "timeout"), ProviderUnavailable),
        (Fault(401, "invalid_api_key"), OperatorsFault),
    ],
)
def test_the_error_of_a_line_is_not_billed(vendor, answered, fault, kind):
    vendor.outcome = lambda key, prompt: fault if prompt == "a lake" else None

    found = answered("a castle", "a lake")

    assert type(found["key-2"].error) is kind
    assert found["key-2"].error.billed is False
    assert found["key-2"].answer is None
    assert found["key-1"].answer
    assert vendor.billed == {"key-1": 1}


@pytest.mark.parametrize("code", ["content_policy_violation", "moderation_blocked"])
def test_openais_policy_refuses_a_line(vendor, answered, is_gemini, code):
    vendor.outcome = lambda key, prompt: Fault(400, code)

    error = answered("a castle")["key-1"].error

    assert type(error) is (BadRequest if is_gemini else RequestRefused)


@only_gemini
def test_a_line_that_was_blocked_is_refused(read):
    blocked = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}

    [result] = read({"key": "a", "response": blocked})

    assert type(result.error) is RequestRefused
    assert not result.error.billed


@only_gemini
@pytest.mark.parametrize(
    ("code", "kind"), [(3, BadRequest), (8, ProviderUnavailable), (13, ProviderUnavailable)]
)
@pytest.mark.parametrize("place", ["error", "status"])
def test_googles_numbers_are_understood(read, code, kind, place):
    [result] = read({"key": "a", place: {"code": code, "message": "it is so"}})

    assert type(result.error) is kind
    assert "it is so" in str(result.error)
    assert not result.error.billed


@pytest.mark.parametrize("state", ["expired", "canceled"])
def test_what_an_early_end_left_out_was_not_billed(vendor, answered, is_gemini, state):
    found = answered("a castle", "a lake", state=state, count=1)

    assert found["key-1"].answer
    assert vendor.billed == {"key-1": 1}
    if not is_gemini:  # Gemini says nothing about the rest
        assert type(found["key-2"].error) is ProviderUnavailable
        assert not found["key-2"].error.billed


@pytest.mark.parametrize(
    ("shape", "keys"),
    [
        (base.out_of_order, ["key-2", "key-1"]),
        (base.doubled, ["key-1", "key-1", "key-2", "key-2"]),
        (base.without_first, ["key-2"]),
    ],
)
def test_lines_come_as_they_are(vendor, batches, made, tmp_path, shape, keys):
    vendor.shape = shape
    remote = made("a castle", "a lake")
    vendor.advance(vendor.batch("token-1"), "completed")
    [file] = batches.look(remote.id, 20).files
    batches.download(file, tmp_path / "results", 20)

    found = list(batches.results(MODEL, "text", tmp_path / "results"))

    assert [result.key for result in found] == keys
    for result in found:
        prompt = {"key-1": "a castle", "key-2": "a lake"}[result.key]
        assert prompt in json.loads(result.answer.raw)["text"]


def test_what_is_no_line_is_left_out(vendor, batches, tmp_path, is_gemini):
    name = "key" if is_gemini else "custom_id"
    file = tmp_path / "results"
    good = json.dumps({name: "a", "error": {"code": 503, "message": "no"}}).encode()
    file.write_bytes(
        b"\n{broken\n[]\n7\n" + b'{"other": 1}\n{"' + name.encode() + b'": 7}\n\xff\n' + good
    )

    assert [result.key for result in batches.results(MODEL, "text", file)] == ["a"]


def test_a_line_without_end_is_not_read_into_memory(tmp_path):
    file = tmp_path / "results"
    file.write_bytes(b'{"a": "' + b"x" * 10_000 + b'"}\n{"b": 1}\n{"c": 2}')

    assert list(lines.objects(file, most_bytes=1000)) == [{"b": 1}, {"c": 2}]


@pytest.mark.parametrize("form", ["text", "picture"])
@pytest.mark.parametrize("body", [{}, {"choices": 7, "data": 7, "candidates": 7}])
def test_an_answer_of_another_shape_is_garbage_and_billed(read, is_gemini, form, body):
    response = {"status_code": 200, "request_id": "r", "body": body}
    line = {"key": "a", "response": body} if is_gemini else {"custom_id": "a", "response": response}

    [result] = read(line, form=form)

    assert type(result.error) is GarbageAnswer
    assert result.error.billed


@only_openai
@pytest.mark.parametrize("body", [[], 7, None])
def test_a_body_that_is_no_object_is_garbage(read, body):
    [result] = read({"custom_id": "a", "response": {"status_code": 200, "body": body}})

    assert type(result.error) is GarbageAnswer


@only_gemini
def test_new_fields_do_no_harm(read):
    body = {**answers.candidate([{"text": "x", "mood": "good"}]), "novelty": {"a": 1}}

    [result] = read({"key": "a", "response": body, "metadata": {}})

    assert json.loads(result.answer.raw)["text"] == "x"


def test_no_line_tells_the_key(read, is_gemini):
    if is_gemini:
        [result] = read({"key": "a", "error": {"code": 401, "message": f"Wrong key {KEY}"}})
    else:
        body = {"error": {"message": f"Wrong key {KEY}", "code": "invalid_api_key"}}
        [result] = read({"custom_id": "a", "response": {"status_code": 401, "body": body}})

    assert type(result.error) is OperatorsFault
    assert KEY not in str(result.error)
