"""The queue's tables: an abstract job, its history, the workers; processes; providers, paid calls.

Two job models of our own stand above this layer, beside what they perform: `jobs.llm.models`
and `jobs.paid.batches.models`.
"""

from jobs.models.attempt import Attempt, Outcome
from jobs.models.call import Call, State
from jobs.models.job import (
    ENDED,
    MAX_INTERRUPTIONS,
    Job,
    JobQuerySet,
    Status,
    job_models,
    used_providers,
    uuid7,
)
from jobs.models.process import Process
from jobs.models.provider import Provider, Strategy
from jobs.models.worker import Worker

__all__ = [
    "ENDED",
    "MAX_INTERRUPTIONS",
    "Attempt",
    "Call",
    "Job",
    "JobQuerySet",
    "Outcome",
    "Process",
    "Provider",
    "State",
    "Status",
    "Strategy",
    "Worker",
    "job_models",
    "used_providers",
    "uuid7",
]
