"""A batch, step by step, as both services offer it."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from jobs.errors import TooLate
from jobs.paid.clients import may_send
from jobs.paid.clients.batch import Remote
from tests.jobs.clients import answers
from tests.jobs.clients.conftest import KEY, LONG_AGO, MODEL, only_gemini, take, written_to
from tests.jobs.vendors.lines import unpacked


def test_a_batch_of_words_from_the_first_step_to_the_last(vendor, batches, made, fetched):
    remote = made("a castle", "a lake")
    assert remote.has_ended is False
    vendor.advance(vendor.batch("token-1"), "completed")

    remote = batches.look(remote.id, 20)

    assert (remote.has_ended, remote.total, remote.done, remote.failed) == (True, 2, 2, 0)
    found = fetched(remote)
    assert found.keys() == {"key-1", "key-2"}
    told = json.loads(found["key-1"].answer.raw)
    assert told["text"] == "Words about a castle"
    assert (told["finish"], told["model"]) == ("stop", f"{MODEL}-2026")
    assert (told["input_tokens"], told["output_tokens"]) == (2, 4)
    assert found["key-1"].answer.input_tokens == 2
    assert found["key-1"].answer.remote_id
    assert vendor.billed == {"key-1": 1, "key-2": 1}


def test_a_batch_of_pictures(vendor, batches, made, fetched):
    remote = made("a castle", form="picture")
    vendor.advance(vendor.batch("token-1"), "completed")

    found = fetched(batches.look(remote.id, 20), form="picture")

    assert found["key-1"].answer.raw == answers.png()


def test_words_in_a_batch_are_those_of_a_plain_call(vendor, batches, made, fetched):
    alone = batches.client.text(MODEL, {"prompt": "a castle"}, 20)
    remote = made("a castle")
    vendor.advance(vendor.batch("token-1"), "completed")

    together = fetched(batches.look(remote.id, 20))["key-1"].answer

    assert together.raw == alone.raw


def test_each_step_is_one_request(vendor, batches, made, is_gemini):
    remote = made("a castle")
    batches.find("token-1", LONG_AGO, 20)
    batches.look(remote.id, 20)
    batches.cancel(remote.id, 20)

    steps = [entry.step for entry in vendor.ledger]
    assert steps == [
        *(["begin"] if is_gemini else []),
        "upload",
        "create",
        "list",
        "look",
        "cancel",
    ]


@pytest.mark.parametrize("step", ["upload", "create", "list", "look", "cancel", "download"])
def test_no_step_is_repeated_by_itself(vendor, batches, made, tmp_path, step):
    remote = made("a castle")
    before = len(vendor.ledger)
    vendor.instead = dict.fromkeys(["begin", step], answers.status(503))

    with pytest.raises(Exception, match="503"):
        take(step, batches, remote, tmp_path)

    assert len(vendor.ledger) == before + 1


def test_what_is_sent_to_create_a_batch(vendor, made, is_gemini):
    made("a castle", form="picture")

    entry = next(entry for entry in vendor.ledger if entry.step == "create")
    [batch] = vendor.created
    if is_gemini:
        assert entry.path == f"/v1/models/{MODEL}:batchGenerateContent"
        assert entry.request == {
            "batch": {"displayName": "token-1", "inputConfig": {"fileName": batch.input_file}}
        }
    else:
        assert entry.request == {
            "input_file_id": batch.input_file,
            "endpoint": "/v1/images/generations",
            "completion_window": "24h",
            "metadata": {"tabie": "token-1"},
        }


def test_what_is_uploaded(vendor, made, is_gemini):
    made("a castle")

    [line] = unpacked(*vendor.uploaded.values())
    if is_gemini:
        asked = {"contents": [{"role": "user", "parts": [{"text": "a castle"}]}]}
        assert line == {"key": "key-1", "request": {**asked, "generationConfig": {}}}
    else:
        asked = {"model": MODEL, "messages": [{"role": "user", "content": "a castle"}]}
        url = "/v1/chat/completions"
        assert line == {"custom_id": "key-1", "method": "POST", "url": url, "body": asked}
        [form] = [entry.request for entry in vendor.ledger if entry.step == "upload"]
        assert form == {
            "purpose": "batch",
            "expires_after[anchor]": "created_at",
            "expires_after[seconds]": "604800",
        }


def test_the_key_goes_with_every_step(vendor, batches, made, fetched):
    remote = made("a castle")
    vendor.advance(vendor.batch("token-1"), "completed")
    fetched(batches.look(remote.id, 20))

    for entry in vendor.ledger:
        headers = entry.headers
        assert KEY in (headers.get("x-goog-api-key"), headers.get("authorization", "")[7:])


def test_a_file_is_sent_piece_by_piece(vendor, batches, tmp_path):
    prompts = ["a castle by the lake " * 1000] * 1000
    file = written_to(tmp_path / "large.jsonl", batches, prompts, "text")

    name = batches.upload(file, "token-1", 60)

    assert vendor.uploaded[name] == file.read_bytes()


def test_a_batch_that_may_not_be_created_any_more_is_not(vendor, batches, made):
    def refuse():
        raise TooLate("Nothing was sent: the claim is gone.")

    before = may_send.set(refuse)
    try:
        with pytest.raises(TooLate):
            batches.create(MODEL, "text", "files/1", "token-1", 20)
    finally:
        may_send.reset(before)

    assert vendor.ledger == []


# Find


def test_a_batch_is_found_by_its_token(vendor, batches, made):
    remote = made("a castle")
    made("a lake", token="token-2")

    assert batches.find("token-1", LONG_AGO, 20) == [remote]
    assert batches.find("token-3", LONG_AGO, 20) == []


def test_two_batches_with_one_token_come_the_older_first(vendor, batches, made):
    first = made("a castle")
    vendor.created[0].created_at -= 60
    second = made("a castle")

    found = batches.find("token-1", LONG_AGO, 20)

    assert [remote.id for remote in found] == [first.id, second.id]


def test_a_batch_on_a_later_page_is_found(vendor, batches, made):
    vendor.page_size = 2
    remotes = [made("a castle", token=f"token-{number}") for number in range(5)]

    for number, remote in enumerate(remotes):
        assert batches.find(f"token-{number}", LONG_AGO, 20) == [remote]

    assert vendor.asked["list"] > 10


def test_a_list_that_lags_shows_the_batch_later(vendor, batches, made):
    vendor.list_lag = 1
    remote = made("a castle")

    assert batches.find("token-1", LONG_AGO, 20) == []
    assert batches.find("token-1", LONG_AGO, 20) == [remote]


def test_openais_list_is_read_no_further_than_needed(vendor, batches, made, is_gemini):
    vendor.page_size = 1
    for number in range(4):
        made("a castle", token=f"token-{number}")
        vendor.created[-1].created_at -= 7200 * (3 - number)
    vendor.asked.clear()

    batches.find("token-9", datetime.now(UTC) - timedelta(minutes=30), 20)

    assert vendor.asked["list"] == (4 if is_gemini else 2)  # Gemini's order is not documented


def test_a_list_without_end_is_given_up(vendor, batches, made, monkeypatch):
    monkeypatch.setattr("jobs.paid.clients.steps.MOST_PAGES", 3)
    vendor.page_size = 1
    for number in range(5):
        made("a castle", token=f"token-{number}")

    with pytest.raises(Exception, match="more than 3 pages") as caught:
        batches.find("token-9", LONG_AGO, 20)

    assert not caught.value.billed


# Look


def test_a_state_that_is_unknown_has_not_ended(vendor, batches, made):
    remote = made("a castle")
    vendor.advance(vendor.batch("token-1"), "PONDERING")

    assert batches.look(remote.id, 20) == Remote(id=remote.id, state="PONDERING", total=1)


@pytest.mark.parametrize("state", ["completed", "failed", "expired", "canceled"])
def test_the_ends_of_a_batch(vendor, batches, made, state):
    assert_ends(vendor, batches, made("a castle", "a lake"), state)


@only_gemini
@pytest.mark.parametrize("state", ["completed", "partial", "failed", "expired", "canceled"])
@pytest.mark.parametrize("wire", ["BATCH_STATE_", "JOB_STATE_"])
@pytest.mark.parametrize("place", ["response", "metadata"])
def test_an_end_in_all_of_geminis_words(vendor, batches, made, state, wire, place):
    vendor.wire, vendor.results_in = wire, place

    assert_ends(vendor, batches, made("a castle", "a lake"), state)


def assert_ends(vendor, batches, remote, state):
    vendor.advance(vendor.batch("token-1"), state, answered=1)

    remote = batches.look(remote.id, 20)

    assert remote.has_ended
    assert remote.done == (2 if state == "completed" else 1)
    assert remote.files


def test_a_batch_moves_on_by_itself(vendor, batches, made):
    vendor.finish_after = 2
    remote = made("a castle")

    assert [batches.look(remote.id, 20).has_ended for _ in range(3)] == [False, True, True]
    assert vendor.billed == {"key-1": 1}


def test_canceling_what_has_ended_changes_nothing(vendor, batches, made):
    remote = made("a castle")
    vendor.advance(vendor.batch("token-1"), "completed")

    batches.cancel(remote.id, 20)

    assert batches.look(remote.id, 20).done == 1


def test_what_is_canceled_stops(vendor, batches, made):
    remote = made("a castle")

    batches.cancel(remote.id, 20)

    assert "cancel" in batches.look(remote.id, 20).state.lower()


def test_what_is_canceled_ends_by_itself(vendor, batches, made):
    vendor.finish_after = 1
    remote = made("a castle")
    batches.cancel(remote.id, 20)

    remote = batches.look(remote.id, 20)

    assert (remote.has_ended, remote.done, vendor.billed) == (True, 0, {})
