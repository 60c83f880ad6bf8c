"""A slice as `guides.derived` wants it: it keeps a line for each answer."""

import os
import time

from django.db import models

from guides.derived.commissions import Keeper, ask
from jobs.errors import PermanentError

SCHEMA = {
    "type": "object",
    "properties": {"line": {"type": "string"}},
    "required": ["line"],
    "additionalProperties": False,
}


class Line(models.Model):
    asked = models.UUIDField()
    position = models.IntegerField()
    status = models.TextField()

    class Meta:
        db_table = "lines"


class Poem(models.Model):
    """What a page would show: whether the lines are still waited for."""

    asked = models.UUIDField(unique=True)
    state = models.TextField(default="waiting")

    class Meta:
        db_table = "poems"


class KeepLines(Keeper):
    """Keeps a line for each answer; its `script` may be to fail."""

    script = models.TextField(db_default="", default="")

    slice = "poems"
    is_housekeeping = True

    class Meta(Keeper.Meta):
        db_table = "keep_lines"

    def perform(self, run):
        super().perform(run)
        while (gate := os.environ.get("GATE")) and not os.path.exists(gate):
            time.sleep(0.02)  # committed, and not settled

    def keep(self, answers, commission):
        Line.objects.bulk_create(
            Line(asked=self.asked, position=answer.position, status=answer.status)
            for answer in answers
        )
        if self.script == "fail":
            raise PermanentError("The lines can't be kept.")
        self.note("kept")

    def gave_up(self, reason):
        self.note("gave up")

    def resumed(self):
        self.note("waiting")

    def note(self, state):
        Poem.objects.filter(asked=self.asked).update(state=state)


def ask_for_lines(*prompts, script="", **more):
    requests = [{"prompt": prompt, "schema": SCHEMA, "max_tokens": 100} for prompt in prompts]
    commission = ask(requests, KeepLines(script=script), subject="Rain", **more)
    Poem.objects.create(asked=commission.pk)
    return commission
