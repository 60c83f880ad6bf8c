"""What a storage's refusals mean for the queue, and what they tell a person."""

import socket
import traceback

import pytest

from jobs.errors import StorageRefused, StorageUnavailable
from jobs.storage import Bucket
from jobs.storage import bucket as storage
from tests.jobs.storage.servers import SECRET, CutOff, Withheld, credentials

NAME = "calls/abc/1"
TWICE = 2  # boto retries once


@pytest.fixture
def closed_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but not listening
        yield taken.getsockname()[1]


def all_uses(bucket):
    return [
        lambda: bucket.put(NAME, b"answer"),
        lambda: bucket.read(NAME),
        lambda: bucket.read_range(NAME, 0, 1),
        lambda: bucket.exists(NAME),
        lambda: bucket.remove(NAME),
    ]


def refusal(use, expected):
    """The error's text; also checks that nothing secret could get into a log with it."""
    with pytest.raises(expected) as raised:
        use()
    assert type(raised.value) is expected
    assert SECRET not in "".join(traceback.format_exception(raised.value))
    assert "wrong-secret" not in "".join(traceback.format_exception(raised.value))
    return str(raised.value)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "fault", [(500, "InternalError"), (503, "SlowDown"), (429, "TooMany"), (400, "RequestTimeout")]
)
def test_a_storage_in_trouble_is_unavailable(s3, faulty, fault):
    faulty.faults = [fault] * TWICE

    text = refusal(lambda: s3.behind(faulty).open().put(NAME, b"answer"), StorageUnavailable)

    assert all(word in text for word in (NAME, s3.bucket, str(fault[0]), fault[1]))
    assert text.startswith("The bucket ")  # names of files are long


def test_one_fault_alone_is_not_even_noticed(s3, faulty):
    faulty.faults = [(503, "SlowDown")]

    s3.behind(faulty).open().put(NAME, b"answer")

    assert s3.open().read(NAME) == b"answer"


def test_reading_and_looking_are_unavailable_too(s3, faulty):
    _, *uses = all_uses(s3.behind(faulty).open())
    for use in uses:
        faulty.faults = [(503, "SlowDown")] * TWICE
        assert "503" in refusal(use, StorageUnavailable)


def test_a_put_whose_answer_is_lost_twice_is_stored_and_can_be_put_again(s3, faulty):
    faulty.faults = [Withheld] * TWICE
    bucket = s3.behind(faulty).open(read_seconds=0.3)

    text = refusal(lambda: bucket.put(NAME, b"answer"), StorageUnavailable)

    assert "ReadTimeoutError" in text
    for _ in range(TWICE):  # a slow server may not have stored it yet
        assert faulty.withheld.acquire(timeout=60)
    assert s3.open().read(NAME) == b"answer"
    s3.open().put(NAME, b"answer")
    assert s3.open().read(NAME) == b"answer"


def test_a_put_whose_answer_is_lost_once_is_done(s3, faulty):
    faulty.faults = [CutOff]

    s3.behind(faulty).open().put(NAME, b"answer")

    assert s3.open().read(NAME) == b"answer"


def test_a_storage_that_is_not_there_is_unavailable(account, closed_port):
    bucket = Bucket("tabie", endpoint_url=f"http://127.0.0.1:{closed_port}")

    text = refusal(lambda: bucket.put(NAME, b"answer"), StorageUnavailable)

    assert "EndpointConnectionError" in text


@pytest.mark.parametrize("use", range(3), ids=["put", "read", "exists"])
def test_a_wrong_secret_is_for_the_operator(signing, monkeypatch, use):
    for name, value in credentials("wrong-secret").items():
        monkeypatch.setenv(name, value)

    text = refusal(all_uses(signing.open())[use], StorageRefused)

    assert "403" in text
    assert "AWS_SECRET_ACCESS_KEY" in text


def test_an_unknown_bucket_is_for_the_operator(s3):
    put, read, part, _, remove = all_uses(s3.open(bucket="nobody"))

    for use in (put, read, part, remove):
        text = refusal(use, StorageRefused)
        assert "NoSuchBucket" in text
        assert "S3_BUCKET" in text


def test_missing_credentials_are_for_the_operator(s3, monkeypatch):
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")

    for use in [*all_uses(s3.open()), lambda: s3.open().signed_url(NAME, 60)]:
        assert "NoCredentialsError" in refusal(use, StorageRefused)


@pytest.mark.parametrize("options", [{"bucket": "no such name!"}, {"endpoint_url": "nonsense"}])
def test_senseless_settings_are_for_the_operator(s3, options):
    text = refusal(lambda: s3.open(**options).put(NAME, b"answer"), StorageRefused)

    assert "Check the settings" in text


def test_a_wrong_region_is_for_the_operator(s3, faulty):
    faulty.faults = [(400, "AuthorizationHeaderMalformed")]

    text = refusal(lambda: s3.behind(faulty).open().put(NAME, b"answer"), StorageRefused)

    assert "AWS_REGION" in text


def test_a_web_site_that_says_yes_to_everything_has_stored_nothing(s3, faulty):
    for use in all_uses(s3.behind(faulty).open()):
        faulty.faults = [(200, "Welcome")]
        assert "does not answer like a storage" in refusal(use, StorageRefused)


def test_endless_conflicts_end(s3, faulty, monkeypatch):
    monkeypatch.setattr(storage, "PAUSES_IN_A_CONFLICT", (0, 0))
    faulty.faults = [(409, "ConditionalRequestConflict")] * 2

    refusal(lambda: s3.behind(faulty).open().put(NAME, b"answer"), StorageUnavailable)

    assert len(faulty.seen) == 2
