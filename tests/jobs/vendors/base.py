"""A vendor with batches on this machine: it keeps its own books and has knobs for every fault.

    with OpenAIVendor() as vendor:
        client = OpenAI("key", vendor.base_url)      # or OPENAI_BASE_URL of a worker process
        ...
        [batch] = vendor.created
        vendor.advance(batch, "completed")           # or: vendor.finish_after = 2
        assert set(vendor.billed.values()) == {1}    # no line was billed twice

Knobs, all of them cleared by `start_anew`:

    script             behaviours of `tests.jobs.clients.answers` for plain calls
    delay, hold        seconds before each reply, or an Event that each waits for
    instead[step]      behaviours that answer a step, which then does not happen
    afterwards[step]   behaviours that reply to a step that did happen: [answers.reset] loses it
    finish_after       a batch completes by itself when it was looked at this often
    list_lag           a new batch is left out of this many lists
    most_lines         a batch with more lines exceeds the account's enqueued tokens
    is_bad             (prompt) -> True: this line is invalid
    outcome            (key, prompt) -> Fault or None: what becomes of a line
    shape              (lines) -> lines of the result file: out of order, doubled, missing
    writes             (prompt) -> the text of an answer without a schema

A step is upload, create, list, look, cancel or download. Behaviours are a list, of which each
request takes the first, or one function that answers them all.
"""

import itertools
import json
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from tests.jobs.clients import answers
from tests.jobs.clients.protocols import Conversation, Service, prompt_of
from tests.jobs.vendors.lines import filled, jsonl, line_request, request_in


@dataclass
class Fault:
    """What becomes of a line instead of an answer."""

    status: int
    code: str
    message: str = "it is so"


@dataclass
class Batch:
    """A batch in the vendor's books."""

    id: str
    token: str
    model: str
    endpoint: str
    input_file: str
    lines: list[dict[str, Any]]
    state: str
    number: int
    created_at: float = field(default_factory=time.time)
    looks: int = 0
    hidden_from: int = 0  # lists to come
    done: int = 0
    failed: int = 0
    files: dict[str, str] = field(default_factory=dict)  # of the results, by their role
    errors: list[dict[str, Any]] = field(default_factory=list)  # of the whole batch


class Refusal(Exception):
    """A request that makes no sense to the vendor."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(status, message)
        self.status, self.message = status, message


class Vendor(Service):
    """The books, and what both vendors do alike."""

    steps: list[tuple[str, str, str]]  # method, pattern of the path, step; "call": a plain call
    states: dict[str, str]  # the vendor's words for ours
    key_of: Callable[[dict[str, Any]], str]
    page_size = 20

    def start_anew(self) -> None:
        super().start_anew()
        with self.books:
            self.instead: dict[str, Any] = {}
            self.afterwards: dict[str, Any] = {}
            self.finish_after: int | None = None
            self.list_lag = 0
            self.most_lines: int | None = None
            self.is_bad: Callable[[str], bool] = lambda prompt: False
            self.outcome: Callable[[str, str], Fault | None] = lambda key, prompt: None
            self.shape: Callable[[list[Any]], list[Any]] = lambda lines: lines
            self.writes: Callable[[str], str] = lambda prompt: f"Words about {prompt}"
            self.uploaded: dict[str, bytes] = {}
            self.results: dict[str, bytes] = {}
            self.created: list[Batch] = []
            self.billed: Counter[str] = Counter()  # by the line's key
            self.prompts: Counter[str] = Counter()  # of billed lines
            self.asked: defaultdict[str, int] = defaultdict(int)  # requests by step
            self.numbers = itertools.count(1)

    @property
    def bought(self) -> Counter[str]:
        """How often each prompt was billed, in a batch or alone."""
        with self.books:
            return self.prompts + Counter(self.paid)

    def batch(self, token: str) -> Batch:
        """The only batch with this token."""
        [found] = [batch for batch in self.created if batch.token == token]
        return found

    # What a test does

    def advance(self, batch: Batch, state: str, answered: int | None = None) -> None:
        """Put a batch into a state, in our words or in the vendor's.

        "completed" answers all its lines. An end before that ("expired", "canceled") answers
        the first `answered` of them. Each answered line is billed.
        """
        with self.books:
            assert not self.has_ended(batch.state), f"{batch.id} is {batch.state} already"
            word = self.states.get(state, state)
            if state == "completed":
                answered = len(batch.lines)
            if self.has_ended(word):
                self.answer_lines(batch, answered or 0, word)
            batch.state = word

    def complete_all(self) -> None:
        for batch in self.created:
            if not self.has_ended(batch.state):
                self.advance(batch, "completed")

    # What the vendors do

    def has_ended(self, word: str) -> bool:
        raise NotImplementedError

    def answer_lines(self, batch: Batch, answered: int, word: str) -> None:
        raise NotImplementedError

    def step(self, method: str, path: str) -> tuple[str, str]:
        """The step that a request asks for, and the name in its path."""
        for asked, pattern, step in self.steps:
            if method == asked and (found := re.fullmatch(pattern, path)):
                return step, "".join(found.groups())
        return "", ""

    def perform(self, step: str, name: str, talk: "Desk", body: bytes) -> Any:
        """Do it; returns the behaviour that replies."""
        raise NotImplementedError

    def is_picture(self, request: dict[str, Any]) -> bool:
        raise NotImplementedError

    def body_of(self, model: str, request: dict[str, Any]) -> dict[str, Any]:
        """The vendor's answer to a request: words, JSON for a schema, or a picture."""
        raise NotImplementedError

    # Shared by both

    def usual(self, conversation: Conversation) -> None:
        conversation.entry.paid = True
        body = self.body_of(conversation.entry.model, conversation.entry.request)
        conversation.answer(200, body, headers=answers.request_id(conversation))

    def create(self, **columns: Any) -> Batch:
        number = next(self.numbers)
        batch = Batch(number=number, hidden_from=self.list_lag, **columns)
        self.created.append(batch)
        return batch

    def known(self, batch_id: str) -> Batch:
        for batch in self.created:
            if batch.id == batch_id:
                return batch
        raise Refusal(404, f"No such batch: {batch_id}")

    def look_at(self, batch_id: str) -> Batch:
        """The batch, moved on if it moves by itself."""
        batch = self.known(batch_id)
        batch.looks += 1
        if self.finish_after is not None and not self.has_ended(batch.state):
            is_canceling = batch.state == self.states.get("canceling")
            if batch.looks >= self.finish_after:
                self.advance(batch, "canceled" if is_canceling else "completed")
            elif not is_canceling:
                self.advance(batch, "running")
        return batch

    def listed(self) -> list[Batch]:
        """The batches that a list shows now."""
        shown = []
        for batch in self.created:
            if batch.hidden_from:
                batch.hidden_from -= 1
            else:
                shown.append(batch)
        return shown

    def bill(self, batch: Batch, line: dict[str, Any]) -> None:
        self.billed[self.key_of(line)] += 1
        self.prompts[prompt_of(line_request(line))] += 1

    def store_result(self, lines: list[Any]) -> str:
        name = f"result-{next(self.numbers)}"
        self.results[name] = jsonl(lines)
        return name

    def words(self, prompt: str, schema: Any) -> str:
        return json.dumps(filled(schema)) if schema else self.writes(prompt)


class Desk(Conversation):
    """One request to a vendor."""

    server: Vendor

    def do_POST(self):
        self.serve(self.body())

    def do_GET(self):
        self.serve(b"")

    def serve(self, body: bytes) -> None:
        self.close_connection = True
        step, name = self.server.step(self.command, self.path.partition("?")[0])
        if step == "call":
            self.converse(body)
            return
        self.book(request_in(body), step)
        with suppress(OSError):  # the client is gone
            self.act(step, name, body)

    def act(self, step: str, name: str, body: bytes) -> None:
        """Do what is asked, unless a knob says otherwise, and reply."""
        vendor = self.server
        vendor.asked[step] += 1
        vendor.pause(vendor.delay)
        vendor.wait_until_released()
        reply = self.taken(vendor.instead, step) if step else answers.status(404, "No such page")
        if not reply:
            try:
                with vendor.books:
                    reply = vendor.perform(step, name, self, body)
            except Refusal as refusal:
                reply = answers.status(refusal.status, refusal.message)
            else:
                reply = self.taken(vendor.afterwards, step) or reply
        reply(self)

    def taken(self, knob: dict[str, Any], step: str) -> Any:
        behaviours = knob.get(step)
        if isinstance(behaviours, list):
            with self.server.books:
                return behaviours.pop(0) if behaviours else None
        return behaviours


def file_of(content: bytes) -> Callable[[Conversation], None]:
    """A behaviour: the bytes of a file."""
    return lambda conversation: conversation.answer(200, content, "application/octet-stream")


def doubled(lines: list[Any]) -> list[Any]:
    return [line for line in lines for _ in range(2)]


def out_of_order(lines: list[Any]) -> list[Any]:
    return lines[::-1]


def without_first(lines: list[Any]) -> list[Any]:
    return lines[1:]
