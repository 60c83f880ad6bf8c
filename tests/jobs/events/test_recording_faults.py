"""What can't be recorded is refused, with every value that is wrong."""

import uuid

import pytest

from jobs import events
from jobs.errors import InvalidEvent, UnknownEvent
from jobs.events import checks
from jobs.models import Event

pytestmark = pytest.mark.django_db


def refused(source="shop", kind="bell.rung", payload=None, key=None):
    with pytest.raises(InvalidEvent) as raised:
        events.record(source, kind, payload, dedupe_key=key)
    assert not Event.objects.exists()
    return str(raised.value)


def nested(depth):
    value = {}
    for _ in range(depth):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        ([], "payload: This must be a JSON object."),
        ("text", "payload: This must be a JSON object."),
        ({"a": {"b": [1, float("nan")]}}, "payload.a.b[1]: It can’t be stored: it is nan"),
        ({"a": float("-inf")}, "payload.a: It can’t be stored: it is -inf"),
        ({"a": ["b\x00"]}, "payload.a[0]: It can’t be stored: it contains NUL"),
        ({"a": "b\ud800"}, "payload.a: It can’t be stored: it contains half a character"),
        ({"a": {"b\x00": 1}}, "payload.a: It can’t be stored: it has the key 'b\\x00', which"),
        ({"a": {3: 1}}, "payload.a: It can’t be stored: it has the key 3, which is no text"),
        ({"a": uuid.UUID(int=0)}, "payload.a: It can’t be stored: it is no JSON: UUID"),
        ({"a": {1}}, "payload.a: It can’t be stored: it is no JSON: set"),
        ({"a": 10**5000}, "payload.a: It can’t be stored: it is too large a number"),
        (nested(65), "payload.a.a.a: It can’t be stored: it is nested too deeply"),
        ({"a": "é" * 50_000}, "payload: At most 100000 bytes; this has 100008."),
    ],
)
def test_a_payload_that_is_no_json_is_refused_with_the_path(payload, said):
    assert said in refused(payload=payload)


def test_a_payload_as_large_and_as_deep_as_allowed_is_recorded():
    payload = {"text": "x" * (checks.MOST_BYTES - 200), "deep": nested(20), "list": [1, (2, None)]}

    event = events.record("shop", "bell.rung", payload).event

    event.refresh_from_db()
    assert event.payload == payload | {"list": [1, [2, None]]}


@pytest.mark.parametrize(
    "wrong", ["", " ", "a ", "a\nb", "a\x00", "a\x1b[2J", "a\u202eb", "\ud800", "x" * 201, 3, b"a"]
)
def test_a_source_and_a_key_are_plain_texts(wrong):
    assert refused(source=wrong).startswith("source: ")
    assert refused(key=wrong).startswith("dedupe_key: ")


@pytest.mark.parametrize("kind", ["", "A", "a b", "a/b", "é", "a\n", "x" * 101, None, 3])
def test_a_kind_is_a_plain_name(kind):
    assert refused(kind=kind).startswith("kind: ")


def test_all_faults_are_told_at_once():
    said = refused("", "A", {"a": float("nan"), "b": "\x00"}, key="")

    fields = [fault.partition(":")[0] for fault in said.split("; ")]
    assert fields == ["source", "kind", "dedupe_key", "payload.a", "payload.b"]


def test_of_very_many_faults_the_first_hundred_are_told():
    faults = checks.faults("shop", "bell.rung", None, {"a": ["\x00"] * 10_000})

    assert len(faults) == checks.MOST_FAULTS


def test_a_kind_that_nobody_declared_is_unknown():
    with pytest.raises(UnknownEvent, match=r"'bell.broke': known are bell.rung, .*pair.met"):
        events.record("shop", "bell.broke")

    assert not Event.objects.exists()


def test_the_check_of_a_kind_refuses_its_payload():
    assert refused(kind="parcel.weighed", payload={}) == "payload.grams: must be a whole number"

    assert events.record("shop", "parcel.weighed", {"grams": 3}).is_new
