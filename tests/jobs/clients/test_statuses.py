"""What both services mean by a status."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from jobs.errors import AnswerLost, BadRequest, GarbageAnswer, OperatorsFault, ProviderUnavailable
from tests.jobs.clients import answers


@pytest.fixture
def error_of(service, client):
    def ask(behaviour):
        service.script = [behaviour]
        with pytest.raises(Exception) as caught:  # noqa: PT011  the type is what is asked for
            client.picture("model-7", "a castle", 10)
        assert len(service.ledger) == 1, "the SDK tried again by itself"
        return caught.value

    return ask


@pytest.mark.parametrize(
    ("status", "kind", "billed"),
    [
        (429, ProviderUnavailable, False),
        (500, ProviderUnavailable, False),
        (503, ProviderUnavailable, False),
        (502, ProviderUnavailable, True),
        (520, ProviderUnavailable, True),
        (522, ProviderUnavailable, False),
        (504, AnswerLost, True),
        (408, AnswerLost, True),
        (401, OperatorsFault, False),
        (402, OperatorsFault, False),
        (403, OperatorsFault, False),
        (404, OperatorsFault, False),
        (400, BadRequest, False),
        (413, BadRequest, False),
        (422, BadRequest, False),
        (201, GarbageAnswer, True),
    ],
)
def test_each_status_has_one_meaning(error_of, status, kind, billed):
    error = error_of(answers.status(status))

    assert (type(error), error.billed) == (kind, billed)
    for named in ("model-7", str(status), "it is so"):
        assert named in str(error)


@pytest.mark.parametrize("status", [429, 503, 500])
def test_retry_after_is_honoured(error_of, status):
    assert error_of(answers.status(status, Retry_After="7")).retry_after == 7


def test_without_retry_after_there_is_no_wait_to_honour(error_of):
    assert error_of(answers.status(429)).retry_after is None


def test_retry_after_may_be_a_date_of_the_services_own_clock(error_of):
    then = datetime.now(UTC) + timedelta(hours=5)  # its clock is wrong, by hours

    def behaviour(conversation):
        conversation.date_time_string = lambda: format_datetime(then, usegmt=True)
        later = format_datetime(then + timedelta(seconds=90), usegmt=True)
        conversation.answer(429, {}, headers={"Retry-After": later})

    assert error_of(behaviour).retry_after == 90


@pytest.mark.parametrize("nonsense", ["soon", "nan", "inf", "Wed, 99 Foo 2026", "1e999"])
def test_nonsense_is_no_wait(error_of, nonsense):
    assert error_of(answers.status(503, Retry_After=nonsense)).retry_after is None


def test_a_redirect_is_not_followed(service, error_of):
    error = error_of(answers.status(307, Location=f"{service.url}/elsewhere"))

    assert type(error) is OperatorsFault
    assert "BASE_URL" in str(error)


def test_a_page_in_another_encoding_is_understood_by_its_status(error_of):
    def behaviour(conversation):
        conversation.answer(503, "混み合っています".encode("shift-jis"), "text/html")

    assert type(error_of(behaviour)) is ProviderUnavailable
