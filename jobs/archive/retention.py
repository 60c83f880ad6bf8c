"""Everything that retention does, in its order: what needs no storage first."""

import logging
from collections.abc import Callable

from jobs.archive import answers, archiving, sweeping
from jobs.archive.ages import Ages
from jobs.tracing import logged

log = logging.getLogger(__name__)

GoOn = Callable[[], bool]
Done = dict[str, int]


@logged
def retain(go_on: GoOn = lambda: True) -> Done:
    """Let everything leave that is old enough; `go_on` is asked before every chunk.

    What is left when it says no, the next run does. Safe beside another run.
    """
    ages = Ages.now()
    done: Done = {}
    try:
        done |= sweeping.sweep(ages, go_on)
        # Answers first: a call leaves after its answer is gone.
        done |= answers.expire(ages, go_on)
        done |= archiving.archive(ages, go_on)
    finally:
        log.info("Retention: %s", told(done))
    return done


def told(done: Done) -> str:
    """What left, in one line."""
    left = [f"{name} {number}" for name, number in done.items() if number]
    return ", ".join(left) or "nothing was old enough"
