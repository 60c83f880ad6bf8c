"""Jobs that are asked for more than once: one at a time per key, and not too often.

The key is a unique column of the job. The insert sets it, and a move clears it: the claim, or the
end. So an insert can meet another job with its key, but a move can't.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Literal, get_args
from uuid import UUID

from django.db import connection
from django.db.models import Case, F, TextField, Value, When
from django.db.models.functions import Now

from jobs.db import text
from jobs.models import Cooldown, Job, Status

While = Literal["queued", "open"]
LONGEST = 500  # letters of a key; an index takes no long texts
LONGEST_COOLDOWN = timedelta(days=3660)
MOST_KEYS = 1_000  # of one statement
# The end of a new row's cooldown. Not Now(): a clock that steps back would refuse the first job.
LONG_OVER = datetime(2000, 1, 1, tzinfo=UTC)

# For the claim: from now on, another job with this key may be queued.
UNLESS_QUEUED_ONLY = Case(
    When(unique_while="queued", then=Value(None)),
    default=F("unique_key"),
    output_field=TextField(null=True),
)


def check(jobs: Sequence[Job], unique_while: While | None, not_within: timedelta | None) -> None:
    """Raise ValueError for what can't be asked for; note how long each key is held."""
    if not_within is not None:
        _check_time(not_within)
    for job in jobs:
        if job.unique_key is not None:
            _check_key(job.unique_key)
            job.unique_while = unique_while or job.unique_while or "open"
            _check_while(job.unique_while)
        elif unique_while or job.unique_while or not_within:
            raise ValueError(f"{job}: unique_while and not_within need a unique_key.")


def _check_time(not_within: object) -> None:
    is_time = isinstance(not_within, timedelta)
    if not (is_time and timedelta(0) < not_within <= LONGEST_COOLDOWN):  # type: ignore[operator]
        most = f"at most {LONGEST_COOLDOWN.days} days"
        raise ValueError(f"not_within={not_within!r}: it must be a timedelta above 0, {most}.")


def _check_key(key: object) -> None:
    shown = ascii(key)[:60]
    if not isinstance(key, str) or not 0 < len(key) <= LONGEST:
        raise ValueError(f"unique_key={shown}: it must be a text of 1 to {LONGEST} letters.")
    if key != text.clean(key, 4 * LONGEST):  # NUL, half of a surrogate pair
        raise ValueError(f"unique_key={shown}: the database can't store this text.")


def _check_while(unique_while: object) -> None:
    if unique_while not in get_args(While):
        raise ValueError(f"unique_while={unique_while!r}: it must be 'queued' or 'open'.")


def in_order(jobs: Sequence[Job]) -> list[Job]:
    """Sorted by key: two callers with the same keys wait for each other, and don't deadlock."""
    return sorted(jobs, key=lambda job: job.unique_key or "")


def rely_on_others(skipped: Sequence[Job]) -> list[Job]:
    """Lock the queued jobs that will do the same as these; returns those without one.

    A locked job is not claimed before our commit. Claimed earlier, it would not see the changes
    of our transaction, and then no job would. Only jobs that are unique while queued rely on it.
    """
    debounced = [job for job in skipped if job.unique_while == "queued"]
    if not (debounced and connection.in_atomic_block and connection.features.has_select_for_update):
        return []  # nothing to see later, or a database with one writer at a time
    keys = {job.unique_key for job in debounced}
    queued = type(debounced[0]).objects.filter(status=Status.QUEUED, unique_key__in=keys)
    locked = queued.order_by("id").select_for_update(no_key=True)
    held = set(locked.values_list("unique_key", flat=True))
    return [job for job in debounced if job.unique_key not in held]


def refused(jobs: Sequence[Job], not_within: timedelta) -> set[UUID]:
    """Which of these new jobs come too early; the cooldown of the others begins."""
    begun: set[str] = set()
    keys = sorted({str(job.unique_key) for job in jobs})
    for start in range(0, len(keys), MOST_KEYS):
        begun |= _begin(jobs[0]._meta.label, keys[start : start + MOST_KEYS], not_within)
    return {job.id for job in jobs if job.unique_key not in begun}


def _begin(kind: str, keys: list[str], time: timedelta) -> set[str]:
    """Begin the cooldowns of those keys whose last one is over; returns these keys.

    One row per key, written only if its cooldown is over: of any number of sessions at once, one
    writes it. The others wait for its commit, and then find that it is not over.
    """
    rows = [Cooldown(kind=kind, key=key, until=LONG_OVER) for key in keys]
    Cooldown.objects.bulk_create(rows, ignore_conflicts=True)
    ours = Cooldown.objects.filter(kind=kind, key__in=keys)
    is_over = ours.filter(until__lte=Now()).order_by("key").select_for_update()
    begun = dict(is_over.values_list("key", "pk"))
    if len(begun) < len(keys) and ours.count() < len(keys):
        return _begin(kind, keys, time)  # retention has deleted one that was over, just now
    Cooldown.objects.filter(pk__in=begun.values()).update(until=Now() + time)
    return set(begun)
