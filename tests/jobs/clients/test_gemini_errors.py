import pytest

from jobs.errors import BadRequest, OperatorsFault, ProviderUnavailable
from tests.jobs.clients import answers

MODEL = "gemini-3.1-flash-image"
PER_MINUTE = {"quotaId": "GenerateRequestsPerMinutePerProjectPerModel", "quotaValue": "15"}
PER_DAY = {"quotaId": "GenerateRequestsPerDayPerProjectPerModel"}
NOTHING_FREE = {"quotaId": "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}


def error_of(service, gemini, behaviour):
    service.script = [behaviour]
    with pytest.raises(Exception) as caught:  # noqa: PT011  the type is what is asked for
        gemini.picture(MODEL, "a castle", 10)
    return caught.value


def test_retry_info_is_the_wait(service, gemini):
    error = error_of(service, gemini, answers.google_quota(PER_MINUTE, delay="17.5s"))

    assert type(error) is ProviderUnavailable
    assert (error.retry_after, error.billed) == (17.5, False)


def test_the_header_goes_before_retry_info(service, gemini):
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "17s"}
    behaviour = answers.google_error(429, "slow", "RESOURCE_EXHAUSTED", info, Retry_After="9")

    assert error_of(service, gemini, behaviour).retry_after == 9


def test_a_days_quota_is_asked_for_again_in_an_hour(service, gemini):
    error = error_of(service, gemini, answers.google_quota(PER_DAY, delay="17s"))

    assert type(error) is ProviderUnavailable
    assert error.retry_after == 3600


@pytest.mark.parametrize(
    "behaviour",
    [
        answers.google_quota(NOTHING_FREE),
        answers.google_quota({**PER_DAY, "quotaValue": "0"}, message="Quota: x, limit: 0, y"),
        answers.google_error(429, "Your prepayment credits are depleted.", "RESOURCE_EXHAUSTED"),
        answers.google_error(
            429, "Your project has exceeded its monthly spending cap.", "RESOURCE_EXHAUSTED"
        ),
    ],
)
def test_a_quota_that_waiting_does_not_bring_back_is_the_operators(service, gemini, behaviour):
    error = error_of(service, gemini, behaviour)

    assert type(error) is OperatorsFault
    assert "billing" in str(error)
    assert not error.billed


def test_a_full_minute_of_the_free_tier_is_only_a_wait(service, gemini):
    violation = {**NOTHING_FREE, "quotaValue": "10"}
    message = "Please check your plan and billing details. limit: 10"

    error = error_of(service, gemini, answers.google_quota(violation, message=message))

    assert type(error) is ProviderUnavailable


@pytest.mark.parametrize(
    ("behaviour", "variable"),
    [
        (
            answers.google_error(
                400, "API key not valid.", "INVALID_ARGUMENT", {"reason": "API_KEY_INVALID"}
            ),
            "GEMINI_API_KEY",
        ),
        (answers.google_error(401, "no", "UNAUTHENTICATED"), "GEMINI_API_KEY"),
        (answers.google_error(403, "no", "PERMISSION_DENIED"), "GEMINI_API_KEY"),
        (answers.google_error(404, "models/x is not found", "NOT_FOUND"), "GEMINI_MODEL"),
        (
            answers.google_error(
                400, "The model does not support the response modalities: image", "INVALID_ARGUMENT"
            ),
            "GEMINI_MODEL",
        ),
        (
            answers.google_error(
                400, "User location is not supported for the API use.", "FAILED_PRECONDITION"
            ),
            "country",
        ),
    ],
)
def test_what_an_operator_must_mend_says_where(service, gemini, behaviour, variable):
    error = error_of(service, gemini, behaviour)

    assert type(error) is OperatorsFault
    assert f"Gemini ({MODEL})" in str(error)
    assert variable in str(error)


def test_any_other_400_is_a_bad_request(service, gemini):
    behaviour = answers.google_error(400, "Unknown name 'x'", "INVALID_ARGUMENT")

    error = error_of(service, gemini, behaviour)

    assert type(error) is BadRequest
    assert "Unknown name" in str(error)


@pytest.mark.parametrize(
    "body",
    [
        [],
        "no",
        {"error": "no"},
        {"error": {"details": "no", "message": 7}},
        {"error": {"details": [1]}},
    ],
)
def test_an_error_of_any_shape_is_understood_by_its_status(service, gemini, body):
    assert type(error_of(service, gemini, answers.json_answer(body, 429))) is ProviderUnavailable
