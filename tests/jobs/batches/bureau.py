"""A provider of batches inside the test, with books of its own and a knob for each fault."""

import json
from collections import Counter
from pathlib import Path

from jobs.errors import AnswerLost, BadRequest, BatchGone, OperatorsFault, ProviderUnavailable
from jobs.paid.clients import Answer
from jobs.paid.clients.batch import Remote, Result

FAULTS = {
    "bad": BadRequest("bad"),
    "busy": ProviderUnavailable(reason="busy"),
    "no credit": OperatorsFault(reason="no credit"),
}


class Bureau:
    def __init__(self):
        self.files = {}
        self.batches = {}  # by remote id: token, prompts by key, state
        self.billed = Counter()  # by prompt
        self.requests = Counter()  # by method
        self.faults = {}  # method -> error to raise once; None in front of it: works
        self.is_listed = True
        self.lose_reply = False
        self.state = "completed"
        self.lines = None  # changes the result lines
        self.remote = {}  # further columns of what it says about a batch

    def line(self, model, key, request):
        if request["prompt"] == "unspeakable":
            raise BadRequest("This can't be said.")
        return {"key": key, "prompt": request["prompt"]}

    def upload(self, lines, token, timeout):
        self._count("upload")
        name = f"file-{len(self.files) + 1}"
        self.files[name] = [json.loads(line) for line in lines.read_text().splitlines()]
        return name

    def create(self, model, form, file, token, timeout):
        self._count("create")
        id = f"batch-{len(self.batches) + 1}"
        prompts = {line["key"]: line["prompt"] for line in self.files[file]}
        self.batches[id] = {"token": token, "prompts": prompts, "state": "in_progress"}
        if self.lose_reply:
            raise AnswerLost(reason="the reply was lost")
        return self._remote(id)

    def find(self, token, since, timeout):
        self._count("find")
        found = [id for id, batch in self.batches.items() if batch["token"] == token]
        return [self._remote(id) for id in found] if self.is_listed else []

    def look(self, remote_id, timeout):
        self._count("look")
        if remote_id not in self.batches:
            raise BatchGone(reason="There is no such batch.")
        return self._remote(remote_id)

    def cancel(self, remote_id, timeout):
        self._count("cancel")
        self.finish(remote_id, "cancelled")

    def download(self, file, to, timeout):
        self._count("download")
        Path(to).write_bytes(self.files[file])

    def results(self, model, form, file):
        for line in Path(file).read_text().splitlines():
            told = json.loads(line)
            if error := told.get("error"):
                kind = FAULTS[error]
                yield Result(key=told["key"], error=kind)
            else:
                answer = Answer(raw=told["text"].encode(), **told.get("tokens", {}))
                yield Result(key=told["key"], answer=answer)

    # What the tests do to it

    def finish(self, id=None, state="completed"):
        """End a batch, the last one unless told otherwise, and bill its lines."""
        id = id or list(self.batches)[-1]
        batch = self.batches[id]
        batch["state"] = state
        lines = [{"key": key, "text": f"{text}!"} for key, text in batch["prompts"].items()]
        if self.lines:
            lines = self.lines(lines)
        self.billed.update(
            batch["prompts"][line["key"]] for line in unique(lines) if "error" not in line
        )
        if lines:
            content = "".join(json.dumps(line) + "\n" for line in lines)
            self.files[f"{id}-results"] = content.encode()

    def _remote(self, id):
        state = self.batches[id]["state"]
        results = f"{id}-results"
        has_ended = state in ("completed", "failed", "expired", "cancelled")
        files = (results,) if has_ended and results in self.files else ()
        return Remote(id=id, state=state, has_ended=has_ended, files=files, **self.remote)

    def _count(self, method):
        self.requests[method] += 1
        if error := self.faults.pop(method, None):
            raise error


def unique(lines):
    return {line["key"]: line for line in lines}.values()
