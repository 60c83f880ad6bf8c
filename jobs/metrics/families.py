"""Every metric there is. Labels come from registries, never from what people or providers wrote."""

from typing import Literal, NamedTuple


class Family(NamedTuple):
    """One metric. A gauge and a counter have one value, a summary has a count and a sum."""

    name: str
    help: str
    labels: tuple[str, ...] = ()
    type: Literal["gauge", "counter", "summary"] = "gauge"


class Sample(NamedTuple):
    family: Family
    labels: tuple[str, ...]
    values: tuple[float, ...]


KIND = ("kind",)
PROVIDER = ("provider",)
SCHEDULE = ("schedule",)

JOBS = Family(
    "tabie_jobs", "Jobs, counted up to 10001, which means more than 10000.", ("kind", "status")
)
OLDEST_WAITING = Family(
    "tabie_oldest_waiting_seconds", "How long the oldest due job has waited; 0: none waits.", KIND
)
EXPIRED_LEASES = Family(
    "tabie_expired_leases", "Jobs whose worker is silent, and that no worker rescued yet.", KIND
)
KIND_PAUSED = Family("tabie_kind_paused", "1 while a person has paused this kind of job.", KIND)
ATTEMPTS = Family("tabie_attempts", "Claims that ended.", ("kind", "outcome"), "counter")
ATTEMPT_SECONDS = Family(
    "tabie_attempt_seconds",
    "From claim to end, of claims that ended.",
    ("kind", "outcome"),
    "summary",
)
WORKERS = Family("tabie_workers", "Workers that beat within their lease.")
WORKERS_WORKING = Family("tabie_workers_working", "Of these, those that still take jobs.")
WORKERS_LATE = Family("tabie_workers_late", "Of these, those that have missed two beats.")
PROVIDER_PAUSED = Family(
    "tabie_provider_paused", "1 while no call of this provider starts because of a pause.", PROVIDER
)
PROVIDER_SPENT = Family(
    "tabie_provider_spent", "Spent today, in the currency of the setting CURRENCY.", PROVIDER
)
PROVIDER_BUDGET = Family(
    "tabie_provider_budget", "What may be spent today. Missing: no limit.", PROVIDER
)
PROVIDER_TOKENS = Family(
    "tabie_provider_tokens", "Calls that the rate allows to start now. Missing: no limit.", PROVIDER
)
CALLS_UNKNOWN = Family(
    "tabie_calls_unknown", "Calls that may have been paid for, which no person has looked into."
)
SCHEDULE_LAG = Family(
    "tabie_schedule_lag_seconds", "For how long a run has been due; 0: none is.", SCHEDULE
)
SCHEDULE_BROKEN = Family("tabie_schedule_broken", "1 if this schedule can't run.", SCHEDULE)
BATCH_AGE = Family(
    "tabie_batch_age_seconds",
    "How long the provider has had its oldest unfinished batch; 0: it has none.",
    PROVIDER,
)
SCRAPE_FAILED = Family(
    "tabie_scrape_failed",
    "1 if the metrics of this part could not be read and are missing.",
    ("part",),
)

FAMILIES = [each for each in list(vars().values()) if isinstance(each, Family)]
