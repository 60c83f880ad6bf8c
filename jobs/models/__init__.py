"""The queue's tables: an abstract job, its history, the workers; providers and paid calls."""

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
from jobs.models.provider import Provider
from jobs.models.worker import Worker

__all__ = [
    "ENDED",
    "MAX_INTERRUPTIONS",
    "Attempt",
    "Call",
    "Job",
    "JobQuerySet",
    "Outcome",
    "Provider",
    "State",
    "Status",
    "Worker",
    "job_models",
    "used_providers",
    "uuid7",
]
