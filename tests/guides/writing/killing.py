"""Where a worker that writes can be killed."""

from tests.guides.writing.writers import manuscript

DIE = "os.kill(os.getpid(), 9)"
FIRST = f"real(*arguments, **options); {DIE}"


def settling(kind, first):
    """Die when a job of this kind is about to be settled, or just was."""
    is_it = f"any(type(end.job).__name__ == '{kind}' for end in arguments[0])"
    if first:
        return f"done = real(*arguments, **options); {DIE} if {is_it} else None; return done"
    return f"{DIE} if {is_it} else None; return real(*arguments, **options)"


# Where the worker dies, and how many calls are made in all: 1 for the outline, 1 per spot.
POINTS = {
    "before the outline is asked for": ("jobs.paid.ledger.begin", DIE, 0),
    "while the outline is asked for": ("guides.scribe.Scribe.write", DIE, 1),
    "the outline is here, not settled": ("jobs.queue.settle", settling("LLMJob", False), 0),
    "the outline is settled": ("jobs.queue.settle", settling("LLMJob", True), 0),
    "while the outline is kept": ("guides.writing.keepers.plan_spots", FIRST, 0),
    "the outline is kept, not committed": ("guides.writing.keepers.ask_texts", FIRST, 0),
    "between consume and settle": ("guides.writing.keepers.KeepOutline.perform", FIRST, 0),
    "the keeper is settled": ("jobs.queue.settle", settling("KeepOutline", True), 0),
    "while the texts are kept": ("guides.writing.saving.save_spots", FIRST, 0),
    "the texts are kept, not settled": ("guides.writing.keepers.KeepTexts.perform", FIRST, 0),
    "the texts are settled": ("jobs.queue.settle", settling("KeepTexts", True), 0),
}


def dying(where, code):
    return f"""
import django; django.setup()
import os, jobs.paid.ledger, jobs.queue, guides.scribe, guides.writing.keepers
import guides.writing.saving
real = {where}
def fatal(*arguments, **options):
    {code}
{where} = fatal
"""


def is_done():
    return manuscript().state == "done"
