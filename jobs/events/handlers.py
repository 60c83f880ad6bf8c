"""Which kinds of events there are, and the functions that handle them.

Written by decorators in the `handlers` module of each installed app. A row names a handler by its
registered name: nothing is ever imported because a row says so.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from jobs.errors import HandlerMissing, UnknownEvent
from jobs.models import Event
from jobs.run import Run

Handle = Callable[[Event, Run], Any]
Then = Callable[[Event, Any], None]
Check = Callable[[dict[str, Any]], Iterable[tuple[str, str]]]
HandleT = TypeVar("HandleT", bound=Handle)

NAME = re.compile("[a-z0-9_.-]{1,100}")


@dataclass(frozen=True)
class Handler:
    name: str
    handle: Handle  # in `perform`: may be slow, and may be repeated
    then: Then | None = None  # in the transaction that ends the job, exactly once


@dataclass
class Kind:
    internal: bool = False  # only this site may record it
    checks: list[Check] = field(default_factory=list)
    handlers: dict[str, Handler] = field(default_factory=dict)


_kinds: dict[str, Kind] = {}


def declare(kind: str, *, internal: bool = False, check: Check | None = None) -> None:
    """Say that there are events of this kind, even if nothing handles them yet.

    An internal one can't be recorded from outside. `check` gets a payload and returns what is
    wrong with it, as paths and reasons: such an event is refused.
    """
    known = _known(kind)
    known.internal |= internal  # closed, if any of the declarations says so
    known.checks += [check] if check else []


def handles(
    kind: str, *, name: str = "", then: Then | None = None, internal: bool = False
) -> Callable[[HandleT], HandleT]:
    """Let this function handle every event of a kind, as a job of its own.

    What it returns is given to `then`, in the transaction that ends the job.
    """

    def register(handle: HandleT) -> HandleT:
        called = name or f"{handle.__module__}.{handle.__qualname__}"
        if not NAME.fullmatch(called):
            raise ValueError(
                f"{called!r} can't name a handler: pass name= with at most 100 of a-z 0-9 _ . -"
            )
        known = _known(kind)
        if called in known.handlers:
            raise ValueError(f"{kind!r} has a handler {called!r} already: pass another name=.")
        known.handlers[called] = Handler(called, handle, then)
        known.internal |= internal
        return handle

    return register


def _known(kind: str) -> Kind:
    if not NAME.fullmatch(kind):
        raise ValueError(f"{kind!r} can't be a kind of events: at most 100 of a-z 0-9 _ . -")
    return _kinds.setdefault(kind, Kind())


def kinds(*, internal: bool = True) -> list[str]:
    """The known kinds; without internal ones, those that can be recorded from outside."""
    return sorted(name for name, kind in _kinds.items() if internal or not kind.internal)


def find_kind(kind: str, *, internal: bool = True) -> Kind:
    if kind not in kinds(internal=internal):
        known = ", ".join(kinds(internal=internal)) or "none"
        raise UnknownEvent(f"Nothing handles events of the kind {kind!r:.120}: known are {known}.")
    return _kinds[kind]


def find_handler(kind: str, name: str) -> Handler:
    found = _kinds.get(kind, Kind()).handlers
    if name not in found:
        raise HandlerMissing(
            f"This worker's code has no handler {name!r} of {kind!r} events, only: "
            f"{', '.join(found) or 'none'}. Requeue the job when the code has it, or delete it."
        )
    return found[name]
