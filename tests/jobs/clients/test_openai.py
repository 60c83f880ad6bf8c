import pytest

from jobs.errors import (
    BadRequest,
    GarbageAnswer,
    OperatorsFault,
    ProviderUnavailable,
    RequestRefused,
)
from tests.jobs.clients import answers

MODEL = "gpt-image-2"


def error_of(service, openai, behaviour):
    service.script = [behaviour]
    with pytest.raises(Exception) as caught:  # noqa: PT011  the type is what is asked for
        openai.picture(MODEL, "a castle", 10)
    return caught.value


def test_a_picture_comes_with_the_services_name_for_the_request(service, openai):
    answer = openai.picture(MODEL, "a castle", 10)

    assert (answer.raw, answer.remote_id, answer.cost) == (answers.png(), "answer-1", None)
    [entry] = service.ledger
    assert entry.path == "/v1/images/generations"
    assert entry.request == {"model": MODEL, "prompt": "a castle", "n": 1, "size": "1024x1024"}


@pytest.mark.parametrize("code", ["moderation_blocked", "content_policy_violation"])
def test_a_blocked_prompt_is_refused_and_not_billed(service, openai, code):
    error = error_of(
        service, openai, answers.openai_error(400, code, "Rejected by the safety system")
    )

    assert type(error) is RequestRefused
    assert f"OpenAI ({MODEL})" in str(error)
    assert "policy" in str(error)
    assert not error.billed


@pytest.mark.parametrize(
    ("status", "code"),
    [(429, "insufficient_quota"), (429, "billing_not_active"), (400, "billing_hard_limit_reached")],
)
def test_an_account_without_credit_is_the_operators(service, openai, status, code):
    error = error_of(service, openai, answers.openai_error(status, code, Retry_After="3"))

    assert type(error) is OperatorsFault
    assert "billing" in str(error)


@pytest.mark.parametrize(
    ("behaviour", "variable"),
    [
        (answers.openai_error(401, "invalid_api_key"), "OPENAI_API_KEY"),
        (answers.openai_error(403, "unsupported_country_region_territory"), "OPENAI_API_KEY"),
        (answers.openai_error(404, "model_not_found"), "OPENAI_MODEL"),
        (answers.openai_error(403, "model_not_found"), "OPENAI_MODEL"),
        (
            answers.json_answer({"error": {"code": "invalid_value", "param": "model"}}, 400),
            "OPENAI_MODEL",
        ),
    ],
)
def test_what_an_operator_must_mend_says_where(service, openai, behaviour, variable):
    error = error_of(service, openai, behaviour)

    assert type(error) is OperatorsFault
    assert variable in str(error)


def test_any_other_400_is_a_bad_request(service, openai):
    assert type(error_of(service, openai, answers.openai_error(400, "invalid_size"))) is BadRequest


def test_milliseconds_to_wait_are_not_rounded_away(service, openai):
    behaviour = answers.openai_error(
        429, "rate_limit_exceeded", Retry_After="0", Retry_After_Ms="350"
    )

    error = error_of(service, openai, behaviour)

    assert type(error) is ProviderUnavailable
    assert error.retry_after == 0.35


def test_a_link_is_never_followed(service, openai):
    link = f"{service.url}/secret"
    error = error_of(service, openai, answers.json_answer({"created": 1, "data": [{"url": link}]}))

    assert type(error) is OperatorsFault
    assert error.billed
    assert "OPENAI_MODEL" in str(error)
    assert len(service.ledger) == 1


@pytest.mark.parametrize(
    "data",
    [None, [], {}, "no", 7, [None], [7], ["no"], [{}], [{"b64_json": 7}], [{"b64_json": ""}]],
)
def test_an_answer_of_another_shape_is_garbage(service, openai, data):
    error = error_of(service, openai, answers.json_answer({"created": 1, "data": data}))

    assert type(error) is GarbageAnswer
