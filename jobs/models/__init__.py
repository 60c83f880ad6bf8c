"""The queue's tables: an abstract job, its history, the workers, their chain; processes; providers,
paid calls; schedules, events, archives.

The job models of our own stand above this layer, beside what they perform: see `jobs.apps`. Here
they are found by name, through Django's registry.
"""

from typing import Any

from django.apps import apps

from jobs.models.alert import Alert
from jobs.models.archive import Archive, CallTotal, Total
from jobs.models.attempt import Attempt, Outcome
from jobs.models.call import Call, State
from jobs.models.chain import Chain
from jobs.models.cooldown import Cooldown
from jobs.models.event import Event
from jobs.models.job import Job, uuid7
from jobs.models.pause import Pause
from jobs.models.process import Process
from jobs.models.provider import Provider, Strategy
from jobs.models.registry import job_models, model_of, used_providers
from jobs.models.schedule import Schedule
from jobs.models.selecting import MAX_INTERRUPTIONS, JobQuerySet, in_trace
from jobs.models.status import ENDED, OPEN, Status
from jobs.models.worker import Worker

__all__ = [
    "ENDED",
    "MAX_INTERRUPTIONS",
    "OPEN",
    "Alert",
    "Archive",
    "Attempt",
    "Call",
    "CallTotal",
    "Chain",
    "Cooldown",
    "Event",
    "Job",
    "JobQuerySet",
    "Outcome",
    "Pause",
    "Process",
    "Provider",
    "Schedule",
    "State",
    "Status",
    "Strategy",
    "Total",
    "Worker",
    "in_trace",
    "job_models",
    "model_of",
    "used_providers",
    "uuid7",
]

OUR_OWN = {"Batch", "LLMJob", "TaskJob"}


def __getattr__(name: str) -> Any:
    if name in OUR_OWN:
        return apps.get_model("jobs", name, require_ready=False)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
