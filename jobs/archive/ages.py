"""How long each thing is kept: the settings, as moments of the database's clock."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Self

from jobs import settings
from jobs.db import clock

WORKERS = timedelta(days=1)  # since their last beat
HOUSEKEEPING = timedelta(days=7)  # since their end


@dataclass(frozen=True)
class Ages:
    """What is older than these moments leaves; None: it is kept for ever."""

    history: datetime | None
    answers: datetime | None
    events: datetime | None
    llm: datetime | None

    @classmethod
    def now(cls) -> Self:
        now = clock.now()
        return cls(
            history=_before(now, settings.LOG_RETENTION_DAYS_DB),
            answers=_before(now, settings.ANSWER_RETENTION_DAYS),
            events=_before(now, settings.EVENT_RETENTION_DAYS),
            llm=_before(now, settings.LLM_RETENTION_DAYS),
        )

    @property
    def answered_calls(self) -> datetime | None:
        """A call with an answer leaves when both its answer and its history are old enough."""
        if self.history is None or self.answers is None:
            return None
        return min(self.history, self.answers)


def _before(now: datetime, days: int) -> datetime | None:
    return now - timedelta(days=days) if days else None
