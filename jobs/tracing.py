"""What belongs together in the logs: a trace id, and a line when a public function begins and ends.

The lines are written with LOG_LEVEL=DEBUG. They tell counts and ids, never contents.
"""

import logging
import re
import secrets
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import is_dataclass
from datetime import timedelta
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar
from uuid import UUID

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Facts = dict[str, Any]

SLICE = "JobQueue"  # by which the lines are found, whatever module wrote them

# 32 hexadecimal digits, as in a W3C traceparent: of a web request, or of the job that runs.
trace_id: ContextVar[str] = ContextVar("trace_id", default="")
# The traceparent of the cause of what happens here: the request's header, the job's column, or
# the open span of `jobs.spans`. Empty: the trace begins here.
caller: ContextVar[str] = ContextVar("caller", default="")
# The job that runs here, or whose hook does: what it enqueues came from it.
acting: ContextVar[Any] = ContextVar("acting", default=None)

# https://www.w3.org/TR/trace-context/: version, trace, parent, flags. Zeros are no id.
TRACEPARENT = re.compile(r"00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})")


def valid(traceparent: object) -> str:
    """The traceparent; empty if it is none. Its text may be an attacker's."""
    is_one = isinstance(traceparent, str) and TRACEPARENT.fullmatch(traceparent)
    return str(traceparent) if is_one else ""


def trace_of(traceparent: str | None) -> str:
    """The trace id in a traceparent; empty if it is none."""
    return valid(traceparent)[3:35]


def traceparent() -> str | None:
    """The current trace, as a job keeps it; None outside of any."""
    if caller.get() or not trace_id.get():
        return caller.get() or None
    # 01: to be recorded; no caller has decided against it.
    return f"00-{trace_id.get()}-{secrets.token_hex(8)}-01"


def begin(traceparent: str | None, new_id: str) -> None:
    """Go on in the trace of a caller, or begin a new one; `end` forgets it."""
    caller.set(valid(traceparent))
    trace_id.set(trace_of(traceparent) or new_id)


def end() -> None:
    caller.set("")
    trace_id.set("")


@contextmanager
def inside(traceparent: str | None, otherwise: str = "") -> Iterator[None]:
    """What happens inside belongs to this trace, or to the one with the other id."""
    by = caller.set(valid(traceparent))
    trace = trace_id.set(trace_of(traceparent) or otherwise)
    try:
        yield
    finally:
        trace_id.reset(trace)
        caller.reset(by)


@contextmanager
def on_behalf_of(job: Any) -> Iterator[None]:
    """What happens inside belongs to this job: its trace, and what it enqueues."""
    actor = acting.set(job)
    try:
        with inside(job.trace, trace_id_of(job)):
            yield
    finally:
        acting.reset(actor)


def act_for(job: Any) -> None:
    """The same, for the rest of this context."""
    acting.set(job)
    begin(job.trace, trace_id_of(job))


def trace_id_of(job: Any) -> str:
    """By which its lines are found in the logs; a job without a cause is its own trace."""
    return trace_of(job.trace) or str(job.pk.hex)


def note_origin(job: Any) -> None:
    """Write into a new job which job enqueues it, and the trace in which that happens."""
    job.trace = valid(job.trace) or traceparent()
    parent = acting.get()
    if parent and parent.pk != job.pk:
        job.parent_id = job.parent_id or parent.pk


def logged(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Log ENTER and EXIT of a public function; without DEBUG it costs one check."""
    log = logging.getLogger(function.__module__)
    name = function.__name__
    bind = signature(function).bind

    def write(word: str, process_id: str, **facts: Any) -> None:
        known = {"process_id": process_id} if process_id else {}
        facts = {"slice": SLICE, **known, **facts}
        log.debug("%s %s", word, name, extra={"facts": facts})

    @wraps(function)
    def call(*arguments: Arguments.args, **options: Arguments.kwargs) -> Result:
        if not log.isEnabledFor(logging.DEBUG):
            return function(*arguments, **options)
        given = bind(*arguments, **options).arguments
        process_id = _process_of(given)
        write("ENTER", process_id, args=_described(given))
        started_at = time.perf_counter()
        try:
            result = function(*arguments, **options)
        except BaseException as error:
            raised = type(error).__name__
            write("EXIT", process_id, raised=raised, elapsed_ms=_since(started_at))
            raise
        told = _described({"result": result})
        process_id = process_id or _process_of({"result": result})
        write("EXIT", process_id, result=told, elapsed_ms=_since(started_at))
        return result

    return call


@contextmanager
def logged_block(log: logging.Logger, name: str, process_id: object) -> Iterator[Facts]:
    """Log ENTER and EXIT of a `with` block; the block adds the facts that EXIT tells."""
    facts: Facts = {"slice": SLICE, "process_id": str(process_id)}
    told: Facts = {}
    raised: Facts = {}
    started_at = time.perf_counter()
    log.debug("ENTER %s", name, extra={"facts": facts})
    try:
        yield told
    except BaseException as error:
        raised = {"raised": type(error).__name__}
        raise
    finally:
        ended = {**(raised or {"result": told}), "elapsed_ms": _since(started_at)}
        log.debug("EXIT %s", name, extra={"facts": {**facts, **ended}})


def _since(moment: float) -> float:
    return round(1000 * (time.perf_counter() - moment), 1)


def _described(values: Facts) -> Facts:
    """Counts and ids. A text is left out, and so is whatever only a query could tell."""
    facts: Facts = {}
    for name, value in values.items():
        if value is None or isinstance(value, bool | int | float):
            facts[name] = value
        elif isinstance(value, timedelta):
            facts[name] = value.total_seconds()
        elif isinstance(value, UUID):
            facts[name] = str(value)
        elif is_dataclass(value) and not isinstance(value, type):
            numbers = {key: each for key, each in vars(value).items() if isinstance(each, int)}
            facts[name] = numbers
        elif hasattr(value, "_meta"):
            facts[name] = _name(value)
        elif isinstance(value, Collection) and not isinstance(value, str | bytes):
            facts[f"{name}_count"] = len(value)
    return facts


def _name(row: Any) -> str:
    """A model by its label, a row by its id."""
    is_model = isinstance(row, type)
    return str(row._meta.label if is_model else row.pk)


def _process_of(values: Facts) -> str:
    """The process of the rows among these values, if they have but one. It makes no query."""
    found = {str(id) for name, value in values.items() for id in _processes(name, value) if id}
    return found.pop() if len(found) == 1 else ""


def _processes(name: str, value: Any) -> list[Any]:
    if name == "process_id":
        return [value]
    if not isinstance(value, list | tuple):
        value = [value]
    return [
        _process(each if hasattr(each, "_meta") else getattr(each, "job", each)) for each in value
    ]


def _process(row: Any) -> Any:
    # Not by getattr: a column that was not read would be read now.
    facts = {} if isinstance(row, type) else getattr(row, "__dict__", {})
    is_process = hasattr(row, "_meta") and row._meta.label == "jobs.Process"
    return facts.get("id") if is_process else facts.get("process_id")
