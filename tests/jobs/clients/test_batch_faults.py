"""What goes wrong with a whole batch, and what it means for the money."""

import socket
import traceback

import pytest

from jobs.errors import (
    AnswerLost,
    BadRequest,
    BatchGone,
    BatchTooLarge,
    NoBatches,
    OperatorsFault,
    ProviderUnavailable,
)
from jobs.paid.clients.gemini import Gemini
from jobs.paid.clients.gemini_batches import GeminiBatches
from jobs.paid.clients.openai import OpenAI
from jobs.paid.clients.openai_batches import OpenAIBatches
from tests.jobs.clients import answers
from tests.jobs.clients.conftest import KEY, LONG_AGO, MODEL, only_gemini, only_openai, take

STEPS = ["upload", "create", "list", "look", "cancel", "download"]
FREE = [step for step in STEPS if step != "create"]


@pytest.fixture
def error_of(vendor, batches, made, tmp_path):
    """The error of a step that is answered like this."""
    remote = made("a castle")

    def error_of(step, behaviour):
        vendor.instead = {"begin": behaviour} if step == "upload" else {}
        vendor.instead[step] = behaviour
        with pytest.raises(Exception) as caught:  # noqa: PT011  whichever it is
            take(step, batches, remote, tmp_path)
        return caught.value

    return error_of


@pytest.mark.parametrize(
    "behaviour", [answers.reset, answers.status(500), answers.status(504), answers.page()]
)
def test_a_creation_in_doubt_may_have_happened(error_of, behaviour):
    error = error_of("create", behaviour)

    assert type(error) is AnswerLost
    assert error.billed
    assert str(error).count(MODEL) == 1


def test_a_creation_whose_reply_is_lost_is_found_again(vendor, batches, made):
    vendor.afterwards["create"] = [answers.reset]

    with pytest.raises(AnswerLost):
        made("a castle")

    [remote] = batches.find("token-1", LONG_AGO, 20)
    assert remote.id == vendor.batch("token-1").id


@pytest.mark.parametrize("body", [{}, {"id": "", "name": ""}, {"id": 7, "name": 7}])
def test_a_creation_without_a_name_may_have_happened(error_of, body):
    assert type(error_of("create", answers.json_answer(body))) is AnswerLost


@pytest.mark.parametrize("step", FREE)
@pytest.mark.parametrize(
    "behaviour",
    [answers.reset, answers.half, *(answers.status(code) for code in (429, 500, 502, 504))],
)
def test_other_steps_cost_nothing(error_of, step, behaviour):
    error = error_of(step, behaviour)

    assert type(error) is ProviderUnavailable
    assert not error.billed


@pytest.mark.parametrize("step", ["list", "look"])
@pytest.mark.parametrize("behaviour", [answers.page(), answers.json_answer([])])
def test_a_strange_answer_is_asked_for_again(error_of, step, behaviour):
    assert type(error_of(step, behaviour)) is ProviderUnavailable


@pytest.mark.parametrize("step", STEPS)
def test_a_connection_that_is_refused_sent_nothing(step, tmp_path, made, is_gemini):
    remote = made("a castle")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but not listening
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        nobody = GeminiBatches(Gemini(KEY, url)) if is_gemini else OpenAIBatches(OpenAI(KEY, url))
        with pytest.raises(ProviderUnavailable, match="nothing was sent") as caught:
            take(step, nobody, remote, tmp_path)

    assert type(caught.value) is ProviderUnavailable
    assert not caught.value.billed


@pytest.mark.parametrize("step", ["upload", "create"])
@pytest.mark.parametrize("code", [404, 405, 501])
def test_a_service_without_batches_says_so(error_of, step, code):
    error = error_of(step, answers.status(code))

    assert type(error) is NoBatches
    assert not error.billed


@pytest.mark.parametrize("step", ["look", "cancel", "download"])
def test_a_batch_that_is_not_known_needs_a_person(error_of, step):
    error = error_of(step, answers.status(404, "No such batch"))

    assert type(error) is BatchGone
    assert error.billed
    assert "No such batch" in str(error)


def test_a_429_of_a_creation_is_waited_for(error_of):
    error = error_of("create", answers.status(429, Retry_After="9"))

    assert type(error) is ProviderUnavailable
    assert (error.retry_after, error.billed) == (9, False)


@pytest.mark.parametrize("step", STEPS)
def test_a_wrong_key_is_the_operators(error_of, step):
    error = error_of(step, answers.status(401))

    assert type(error) is OperatorsFault
    assert not error.billed


def test_a_bad_creation_is_bad(error_of):
    error = error_of("create", answers.status(400))

    assert type(error) is BadRequest
    assert not error.billed


@pytest.mark.parametrize("step", ["upload", "list", "look", "download"])
def test_a_bad_question_does_not_condemn_the_batch(error_of, step):
    error = error_of(step, answers.status(400))

    assert type(error) is OperatorsFault
    assert str(error).count("(400)") == 1


@pytest.mark.parametrize("code", [401, 404, 429, 500, 502])
@pytest.mark.parametrize("step", STEPS)
def test_no_error_tells_the_key(error_of, step, code):
    error = error_of(step, answers.status(code, f"Incorrect API key provided: {KEY}."))

    told = "".join(traceback.format_exception(error)) + str(error)
    assert KEY[:12] not in told


# Of the whole batch


def test_more_than_the_account_allows(vendor, batches, made, is_gemini):
    vendor.most_lines = 1
    if is_gemini:
        with pytest.raises(BatchTooLarge) as caught:
            made("a castle", "a lake")
        error = caught.value
    else:
        remote = batches.look(made("a castle", "a lake").id, 20)
        assert (remote.state, remote.has_ended, remote.bad_line) == ("failed", True, None)
        error = remote.error

    assert type(error) is BatchTooLarge
    assert "Enqueued".lower() in str(error).lower()
    assert not error.billed
    assert vendor.billed == {}


def test_a_bad_line_is_named(vendor, batches, made, fetched, is_gemini):
    vendor.is_bad = lambda prompt: prompt == "a lake"
    remote = made("a castle", "a lake")
    if is_gemini:  # the other lines are answered
        vendor.advance(vendor.batch("token-1"), "completed")
        error = fetched(batches.look(remote.id, 20))["key-2"].error
    else:
        remote = batches.look(remote.id, 20)
        assert (remote.has_ended, remote.bad_line, remote.files) == (True, 2, ())
        error = remote.error
        assert "line 2" in str(error)

    assert type(error) is BadRequest
    assert not error.billed


@only_gemini
@pytest.mark.parametrize(
    ("told", "kind", "line"),
    [
        ({"code": 3, "message": "Bad request at line 7."}, BadRequest, 7),
        ({"code": 3, "message": "Bad request."}, BadRequest, None),
        ({"code": 8, "message": "Quota."}, BatchTooLarge, None),
        ({"code": 7, "message": "No."}, OperatorsFault, None),
        ({"code": 13, "message": "Internal."}, ProviderUnavailable, None),
        ({}, ProviderUnavailable, None),
    ],
)
def test_why_gemini_failed_a_batch(vendor, batches, made, told, kind, line):
    remote = made("a castle")
    vendor.created[0].errors = [told]
    vendor.advance(vendor.created[0], "failed")

    remote = batches.look(remote.id, 20)

    assert type(remote.error) is kind
    assert (remote.bad_line, remote.has_ended) == (line, True)
    assert told.get("message", "") in str(remote.error)


@only_openai
@pytest.mark.parametrize(
    ("told", "kind"),
    [
        ({"code": "billing_hard_limit_reached", "message": "Pay."}, OperatorsFault),
        ({"code": "model_not_found", "message": "Which?"}, OperatorsFault),
        ({"code": "server_error", "message": "Oops."}, ProviderUnavailable),
        ({"code": "invalid_json_line", "message": "Hm.", "line": 3}, BadRequest),
        ({"code": "token_limit_exceeded", "message": "Many.", "line": 3}, BatchTooLarge),
        ({}, ProviderUnavailable),
    ],
)
def test_why_openai_failed_a_batch(vendor, batches, made, told, kind):
    remote = made("a castle")
    vendor.created[0].errors = [told]

    remote = batches.look(remote.id, 20)

    assert type(remote.error) is kind
    assert not remote.error.billed
    assert told.get("message", "") in str(remote.error)
    assert remote.bad_line == (3 if kind is BadRequest else None)


@only_gemini
def test_a_model_with_a_path_is_taken_as_it_is(vendor, batches):
    with pytest.raises(NoBatches):  # the vendor knows no tuned models
        batches.create(f"tunedModels/{MODEL}", "text", "files/1", "token-1", 20)

    assert vendor.ledger[0].path == f"/v1/tunedModels/{MODEL}:batchGenerateContent"
