"""Events, recorded once and handled as jobs: `from jobs import events; events.record(...)`."""

from jobs.events.handlers import declare, handles
from jobs.events.recording import Recorded, record

__all__ = ["Recorded", "declare", "handles", "record"]
