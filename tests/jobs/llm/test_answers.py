"""Whatever a model answers: what is kept is complete, as asked for, and can be stored."""

import json

import pytest

from jobs import llm, queue
from jobs.errors import GarbageAnswer, RequestRefused
from jobs.llm import answers
from jobs.llm.answers import CutOff
from jobs.llm.models import LLMJob
from jobs.models import Call
from tests.jobs.conftest import make_due
from tests.jobs.llm.conftest import raw, work

SCHEMA = {
    "type": "object",
    "properties": {
        "spots": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string"}},
                "required": ["name"],
            },
        }
    },
    "required": ["spots"],
    "additionalProperties": False,
}
SPOTS = {"spots": [{"name": "Kinkaku-ji"}, {"name": "嵐山"}]}
TEXT = {"prompt": "x", "max_tokens": 100}
DATA = {**TEXT, "schema": SCHEMA}
ANYTHING = {"title": "anything"}


def check(raw, request=TEXT):
    return answers.checked(raw, request)


# What is kept


def test_of_a_text_the_words_and_the_tokens_are_kept():
    assert check(raw("Hello")) == {
        "text": "Hello",
        "model": "quill-1",
        "input_tokens": 3,
        "output_tokens": 5,
    }


def test_with_a_schema_the_data_is_kept_too():
    kept = check(raw(json.dumps(SPOTS)), DATA)

    assert kept["data"] == SPOTS
    assert json.loads(kept["text"]) == SPOTS


def test_a_local_server_may_not_know_tokens_model_and_finish():
    kept = check(raw("Hello", finish=None, model=None, input_tokens=None, output_tokens=None))

    assert kept == {"text": "Hello", "model": "", "input_tokens": None, "output_tokens": None}


@pytest.mark.parametrize("wrong", [-1, True, "5", 1.5, 10**30, [3]])
def test_a_number_of_tokens_that_is_none_is_left_out(wrong):
    assert check(raw("Hello", input_tokens=wrong))["input_tokens"] is None


# What is not as asked for


def test_an_answer_that_was_cut_off_says_which_limit_to_raise():
    with pytest.raises(CutOff, match="raise max_tokens=100"):
        check(raw('{"spots": [', finish="length"), DATA)


@pytest.mark.parametrize(
    "answer", [raw("", finish="refused", refusal="too sad"), raw("", refusal="too sad")]
)
def test_a_refusal_is_final(answer):
    with pytest.raises(RequestRefused, match="refused to answer: too sad"):
        check(answer)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (raw(""), "empty"),
        (raw(" \n\t"), "empty"),
        (raw("Hello", finish="recitation"), "not complete: it ended with 'recitation'"),
        (raw("Hello", finish=["x"]), "not complete"),
        (b"", "no JSON"),
        (b"<html>", "no JSON"),
        (b"\xff\xfe", "no JSON"),
        (b"[]", "has no text"),
        (b'{"text": 5}', "has no text"),
        (b'{"text": null, "finish": "stop"}', "has no text"),
        (b"[" * 100_000, "no JSON"),
    ],
)
def test_garbage_is_garbage(answer, error):
    with pytest.raises(GarbageAnswer, match=error):
        check(answer)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("Sure! Here is your JSON.", "no JSON"),
        ("```json\n{}\n```", "no JSON"),
        ('{"spots": [', "no JSON"),
        ("NaN", "NaN is no number"),
        ('{"spots": [], "x": -Infinity}', "Infinity is no number"),
        ("1e999", "too large"),
        ("1" * 5000, "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("[" * 100 + "]" * 100, "nested too deeply"),
        ("{}", "answer: 'spots' is a required property"),
        ('{"spots": [{"name": "a"}, {"name": 5}]}', r"answer\.spots\[1\]\.name: 5 is not of type"),
        ('{"spots": [], "note": 1}', "answer: Additional properties are not allowed"),
        ("[]", "answer: .* is not of type 'object'"),
        ("null", "answer: None is not of type 'object'"),
    ],
)
def test_data_that_does_not_fit_its_schema_is_garbage(words, error):
    with pytest.raises(GarbageAnswer, match=error):
        check(raw(words), DATA)


def test_a_schema_that_refers_to_itself_in_a_value_ends():
    loop = {"properties": {"a": {"$ref": "#/properties/a"}}}

    with pytest.raises(GarbageAnswer, match="can't be checked"):
        check(raw('{"a": 1}'), {**TEXT, "schema": loop})


def test_a_number_that_no_float_can_hold_is_garbage_where_one_is_needed():
    with pytest.raises(GarbageAnswer, match=r"can't be checked|not a multiple"):
        check(raw("1" + "0" * 400), {**TEXT, "schema": {"multipleOf": 0.3}})


# What can't be stored


HOSTILE = {
    "a NUL": ('{"a\\u0000": "b\\u0000"}', {"a�": "b�"}),
    "half a character": ('{"a": "\\ud800"}', {"a": "?"}),
    "a key twice": ('{"a": 1, "a": 2}', {"a": 2}),
    "a long number": ("9" * 4000, int("9" * 4000)),
    "many levels": ("[" * 60 + "]" * 60, None),
    "a long text": (json.dumps("x" * 2_000_000), "x" * 2_000_000),
    "a pair of halves": ('"\\ud83c\\udfa8"', "🎨"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_can_not_be_stored_is_cleaned_before_it_is_settled(quill, name):
    words, data = HOSTILE[name]
    process = llm.submit([{"prompt": "x", "schema": ANYTHING}], label="Hostile")
    quill.reply = raw(words)

    work()

    [job] = llm.results(process.id)
    assert job.status == "succeeded", job.last_error
    if data is not None:
        assert job.response_json["data"] == data


def test_a_text_is_cleaned_too(quill):
    process = llm.submit([{"prompt": "x"}], label="Hostile")
    quill.reply = raw("a\0b\ud800c", model="m\0")

    work()

    [job] = llm.results(process.id)
    assert (job.response_json["text"], job.response_json["model"]) == ("a�b?c", "m�")


# What follows for the job and its money


def submit(**request):
    llm.submit([{"prompt": "x", **request}], label="One")


def test_a_garbage_answer_uses_an_attempt_and_is_bought_again(quill):
    submit(schema=SCHEMA)
    quill.reply = raw("{}")
    work()
    job = LLMJob.objects.get()
    assert (job.status, job.attempts, job.error_kind) == ("queued", 1, "GarbageAnswer")
    assert "answer: 'spots' is a required property" in job.last_error

    quill.reply = raw(json.dumps(SPOTS))
    make_due(job)
    work()

    job.refresh_from_db()
    assert (job.status, job.response_json["data"]) == ("succeeded", SPOTS)
    assert list(Call.objects.order_by("id").values_list("state", flat=True)) == ["failed", "stored"]


def test_a_cut_off_answer_is_not_bought_again(quill):
    submit(max_tokens=7)
    quill.reply = raw("half an ans", finish="length")
    work()
    job = LLMJob.objects.get()
    assert (job.status, job.error_kind) == ("failed", "CutOff")
    assert "max_tokens=7" in job.last_error

    queue.requeue(LLMJob.objects.all())
    work()

    assert len(quill.sent) == 1
    assert LLMJob.objects.get().status == "failed"


def test_a_stored_answer_is_used_without_asking_again(quill, monkeypatch):
    submit()
    with monkeypatch.context() as patched:
        patched.setattr(answers, "checked", lambda *_: 1 / 0)  # a fault of ours
        work()
    make_due(LLMJob.objects.get())

    work()

    assert len(quill.sent) == 1
    assert LLMJob.objects.get().response_json["provider"] == "quill"


def test_a_request_without_a_limit_is_sent_with_one(quill):
    submit()

    work()

    assert quill.sent == [{"prompt": "x", "max_tokens": 8192}]
    assert LLMJob.objects.get().request_json == {"prompt": "x"}
