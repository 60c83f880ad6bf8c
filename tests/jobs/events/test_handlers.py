"""Handlers are registered by name and kind, and mistakes are told at once."""

import pytest

from jobs import events
from jobs.errors import UnknownEvent
from jobs.events import handlers


@pytest.fixture(autouse=True)
def registry(monkeypatch):
    monkeypatch.setattr(handlers, "_kinds", {})


def nothing(event, run): ...


def test_a_handler_is_named_after_its_function():
    events.handles("a.b")(nothing)

    assert list(handlers.find_kind("a.b").handlers) == ["tests.jobs.events.test_handlers.nothing"]


def test_a_kind_may_have_several_handlers():
    events.handles("a.b", name="x")(nothing)
    events.handles("a.b", name="y")(nothing)
    events.handles("c", name="x")(nothing)

    assert list(handlers.find_kind("a.b").handlers) == ["x", "y"]


def test_two_handlers_of_one_kind_need_two_names():
    events.handles("a.b")(nothing)

    with pytest.raises(ValueError, match=r"'a.b' has a handler '.*nothing' already: pass another"):
        events.handles("a.b")(nothing)


@pytest.mark.parametrize("kind", ["", "A.b", "a b", "a/b", "é", "x" * 101, "a\n"])
def test_a_kind_is_a_plain_name(kind):
    with pytest.raises(ValueError, match="can't be a kind of events"):
        events.declare(kind)
    with pytest.raises(ValueError, match="can't be a kind of events"):
        events.handles(kind)(nothing)


@pytest.mark.parametrize("name", ["A", "a b", "x" * 101])
def test_a_handler_has_a_plain_name(name):
    with pytest.raises(ValueError, match="can't name a handler: pass name="):
        events.handles("a.b", name=name)(nothing)


def test_a_function_inside_another_needs_a_name():
    def inner(event, run): ...

    with pytest.raises(ValueError, match="<locals>"):
        events.handles("a.b")(inner)


def test_a_kind_is_internal_if_any_declaration_says_so():
    events.handles("a.b")(nothing)
    events.declare("a.b", internal=True)
    events.declare("a.b")
    events.handles("c", internal=True)(nothing)
    events.declare("d")

    assert handlers.kinds() == ["a.b", "c", "d"]
    assert handlers.kinds(internal=False) == ["d"]
    with pytest.raises(UnknownEvent, match=r"'a.b': known are d\."):
        handlers.find_kind("a.b", internal=False)
