import threading

import pytest
from django.db import connection, transaction

from guides.derived import versions
from guides.derived.models import Version

pytestmark = pytest.mark.django_db
UNIT = "topic:en:temple"


def keep(text, unit=UNIT, **more):
    return versions.keep(unit, {"text": text}, made_by="scribe", **more)


def texts():
    return list(Version.objects.order_by("version").values_list("version", "payload__text"))


def test_each_new_content_is_a_version_more():
    keep("old")
    keep("new")

    assert texts() == [(1, "old"), (2, "new")]


def test_the_same_content_again_is_no_version():
    keep("same")

    assert keep("same") is None
    assert texts() == [(1, "same")]


def test_the_order_of_keys_makes_no_version():
    versions.keep(UNIT, {"a": 1, "b": [2]}, made_by="scribe")

    assert versions.keep(UNIT, {"b": [2], "a": 1}, made_by="scribe") is None


def test_units_are_numbered_apart():
    keep("a")
    keep("b", unit="topic:ja:temple")

    assert set(Version.objects.values_list("version", flat=True)) == {1}


def test_an_older_content_that_comes_again_is_a_version_of_its_own():
    for text in ("a", "b", "a"):
        keep(text)

    assert texts() == [(1, "a"), (2, "b"), (3, "a")]


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_two_sessions_at_once_get_two_numbers():
    keep("first")
    has_seen, may_commit = threading.Event(), threading.Event()

    def other():
        with transaction.atomic():
            keep("second")
            has_seen.set()
            may_commit.wait(60)
        connection.close()

    thread = threading.Thread(target=other)
    thread.start()
    assert has_seen.wait(60)
    threading.Timer(0.2, may_commit.set).start()  # our insert waits for its commit meanwhile
    keep("third")
    thread.join()

    assert texts() == [(1, "first"), (2, "second"), (3, "third")]


def test_putting_back_adds_the_older_content_and_shows_it(monkeypatch):
    shown = []
    monkeypatch.setitem(versions._put_back, "topic", lambda version: shown.append(version.payload))
    monkeypatch.setitem(versions._shown, "topic", lambda unit: {"text": "new"})
    old = keep("old")
    keep("new")

    versions.put_back(old, by="mika")

    assert shown == [{"text": "old"}]
    assert texts()[-1] == (3, "old")
    assert versions.latest(UNIT).made_by == "mika"


def test_what_a_person_edited_since_becomes_a_version_before_it_is_replaced(monkeypatch):
    page = {"text": "by hand"}
    monkeypatch.setitem(versions._shown, "topic", lambda unit: page)
    monkeypatch.setitem(versions._put_back, "topic", lambda version: page.update(version.payload))
    old = keep("old")

    versions.put_back(old, by="mika")

    assert texts() == [(1, "old"), (2, "by hand"), (3, "old")]
    assert page == {"text": "old"}
    assert versions.is_shown(old)


def test_a_version_that_is_shown_is_put_back_as_no_new_version(monkeypatch):
    page = {"text": "old"}
    monkeypatch.setitem(versions._shown, "topic", lambda unit: page)
    monkeypatch.setitem(versions._put_back, "topic", lambda version: None)
    old = keep("old")

    assert versions.put_back(old, by="mika") is None
    assert texts() == [(1, "old")]


def test_a_kind_that_no_slice_shows_is_refused():
    stray = keep("a", unit="stray:1")

    assert not versions.can_be_put_back(stray)
    with pytest.raises(versions.CantPutBack):
        versions.put_back(stray, by="mika")


def test_a_version_knows_its_kind():
    assert keep("a").kind == "topic"
    assert Version.objects.create(unit="week:en:2026-W47", version=1, payload={}).kind == "week"
