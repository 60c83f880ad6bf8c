import pytest

from jobs.errors import GarbageAnswer, RequestRefused
from jobs.paid.clients.gemini import Gemini
from tests.jobs.clients import answers
from tests.jobs.clients.conftest import KEY

MODEL = "gemini-3.1-flash-image"


def test_a_picture_comes_with_the_services_name_for_the_request(service, gemini):
    answer = gemini.picture(MODEL, "a castle", 10)

    assert (answer.raw, answer.remote_id, answer.cost) == (answers.png(), "answer-1", None)
    [entry] = service.ledger
    assert entry.path.endswith(f"/models/{MODEL}:generateContent")
    assert (entry.prompt, entry.model, entry.paid) == ("a castle", MODEL, True)
    assert entry.request["generationConfig"] == {"responseModalities": ["IMAGE"]}


def test_variables_meant_for_other_programs_change_nothing(service, monkeypatch):
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    monkeypatch.setenv("GOOGLE_API_KEY", "another key")

    Gemini(KEY, service.url).picture(MODEL, "a castle", 10)

    [entry] = service.ledger
    assert "publishers" not in entry.path
    assert entry.headers["x-goog-api-key"] == KEY


def test_a_thinking_models_draft_is_not_the_picture(service, gemini):
    draft, final = (
        {"inlineData": {"mimeType": "image/png", "data": data}} for data in ("QUFB", "QkJC")
    )
    parts = [{"text": "Let me think"}, {**draft, "thought": True}, final]
    service.script = [answers.json_answer(answers.candidate(parts))]

    assert gemini.picture(MODEL, "a castle", 10).raw == b"BBB"


def test_an_answer_that_could_be_continued_is_not_continued(service, gemini):
    token = {"finish": "CONTINUATION", "continuationToken": "QUFB"}
    service.script = [
        answers.json_answer(answers.candidate([{"text": "To be"}], **token)),
    ]

    gemini.text("gemini-3.8-flash", {"prompt": "Tell me"}, 10)

    assert len(service.ledger) == 1


def test_a_function_that_the_model_wants_called_is_not_called(service, gemini):
    from google.genai import types

    def roll_dice() -> int:
        """Roll the dice."""
        raise AssertionError

    service.script = [
        answers.json_answer(
            answers.candidate([{"functionCall": {"name": "roll_dice", "args": {}}}])
        )
    ]

    config = types.GenerateContentConfig(tools=[roll_dice])
    gemini.generate(gemini.faults("m", "text"), "Roll", 10, config)

    assert len(service.ledger) == 1


def test_a_blocked_prompt_is_refused_and_not_billed(service, gemini):
    service.script = [answers.blocked("PROHIBITED_CONTENT")]

    with pytest.raises(RequestRefused, match=rf"Gemini \({MODEL}\).*policy.*PROHIBITED") as caught:
        gemini.picture(MODEL, "a castle", 10)

    assert not caught.value.billed


@pytest.mark.parametrize(
    "reason", ["SAFETY", "IMAGE_SAFETY", "PROHIBITED_CONTENT", "RECITATION", "IMAGE_RECITATION"]
)
def test_a_picture_refused_half_way_is_billed(service, gemini, reason):
    service.script = [answers.finish(reason)]

    with pytest.raises(RequestRefused, match=reason) as caught:
        gemini.picture(MODEL, "a castle", 10)

    assert caught.value.billed


@pytest.mark.parametrize("reason", ["STOP", "NO_IMAGE", "IMAGE_OTHER", "A_REASON_OF_NEXT_YEAR"])
@pytest.mark.filterwarnings("ignore:A_REASON_OF_NEXT_YEAR")
def test_an_answer_without_picture_or_refusal_is_garbage(service, gemini, reason):
    service.script = [answers.finish(reason)]

    with pytest.raises(GarbageAnswer, match=f"without a picture.*{reason}"):
        gemini.picture(MODEL, "a castle", 10)


def test_words_instead_of_a_picture_are_quoted(service, gemini):
    parts = [{"text": "I would rather\nwrite a poem"}]
    service.script = [answers.json_answer(answers.candidate(parts))]

    with pytest.raises(GarbageAnswer, match="'I would rather write a poem'"):
        gemini.picture(MODEL, "a castle", 10)


def test_a_request_that_makes_no_sense_to_the_sdk_is_not_blamed_on_the_service(service, gemini):
    from google.genai import types

    with pytest.raises(ValueError, match="contents"):
        gemini.generate(gemini.faults("m", "text"), [], 10, types.GenerateContentConfig())

    assert service.ledger == []
