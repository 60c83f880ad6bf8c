"""Keys are sent to the service and shown nowhere else, even if its answer repeats them."""

import traceback

import pytest

from tests.jobs.clients import answers
from tests.jobs.clients.conftest import KEY

QUOTED = f"Incorrect API key provided: {KEY}."
PADDED = " " * 5_000 + KEY


@pytest.mark.parametrize(
    "behaviour",
    [
        *(answers.status(code, QUOTED) for code in (400, 401, 403, 404, 429, 500, 502, 504)),
        answers.status(401, PADDED),
        answers.status(401, "x" * 270 + KEY),
        answers.page(200, QUOTED),
        answers.page(200, "x" * 60 + KEY),
        answers.page(503, QUOTED),
        answers.json_answer({"candidates": KEY, "data": [{"b64_json": KEY}]}),
        answers.json_answer({"candidates": [{"finishReason": KEY}], "data": [{"url": KEY}]}),
        answers.json_answer({"promptFeedback": {"blockReason": KEY}}),
        answers.openai_error(400, "moderation_blocked", QUOTED),
        answers.reset,
    ],
)
@pytest.mark.filterwarnings("ignore:.*is not a valid")
def test_no_error_tells_the_key(service, client, behaviour):
    service.script = [behaviour]

    with pytest.raises(Exception) as caught:  # noqa: PT011  whichever it is
        client.picture("model-7", "a castle", 10)

    told = "".join(traceback.format_exception(caught.value)) + str(caught.value)
    assert KEY[:12] not in told


def test_the_key_is_sent(service, client):
    client.picture("model-7", "a castle", 10)

    headers = service.ledger[0].headers
    assert KEY in (headers.get("x-goog-api-key"), headers.get("authorization", "")[7:])
