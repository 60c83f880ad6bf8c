"""One limiter for logins, API tokens and visitors: rows that all web processes share.

A try is counted before its password or token is looked at, so that a hundred tries at once are
not all the first. The times are the database's.
"""

from datetime import timedelta
from typing import NamedTuple

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils.crypto import salted_hmac

from config.doors.models import Throttle
from jobs.db import clock

NONE = timedelta(0)
FORGET = timedelta(hours=1)  # after the wait has ended
MOST_FORGOTTEN = 20  # rows per new row, so that old rows leave faster than new ones come


class Rule(NamedTuple):
    """After `free` tries, every further one makes the next wait twice as long."""

    name: str
    free: int
    longest: timedelta
    first: timedelta = timedelta(seconds=1)

    def wait(self, tries: int) -> timedelta:
        doubled = min(tries - self.free, 20)  # beyond that every wait is the longest
        return min(self.first * 2 ** (doubled - 1), self.longest) if doubled > 0 else NONE


class Limit(NamedTuple):
    """What one client may try, by one rule."""

    rule: Rule
    client: str

    @property
    def key(self) -> str:
        return key_of(self.rule.name, self.client)


def key_of(rule: str, client: str) -> str:
    """A keyed hash: people type passwords into the field for names."""
    return salted_hmac(f"doors.{rule}", client, algorithm="sha256").hexdigest()[:32]


def wait_for(*limits: Limit) -> timedelta:
    """How long this client must still wait; nothing is counted."""
    waiting = Throttle.objects.filter(key__in=[each.key for each in limits], until__gt=Now())
    waits = [row.until - row.now for row in waiting.annotate(now=Now())]
    return max(waits, default=NONE)


def count(*limits: Limit) -> timedelta:
    """Count a try by each of the rules, unless one of them makes it wait; returns that wait."""
    forget_some()
    with transaction.atomic():
        rows = locked([each.key for each in limits])
        now = clock.now()  # after the lock, which may have taken a while
        wait = max((row.until - now for row in rows.values()), default=NONE)
        if wait > NONE:
            return wait
        for each in limits:
            row = rows[each.key]
            row.tries = 1 if now - row.until > FORGET else row.tries + 1
            row.until = now + each.rule.wait(row.tries)
        Throttle.objects.bulk_update(rows.values(), ["tries", "until"])
    return NONE


def tries_of(limit: Limit) -> int:
    return Throttle.objects.filter(key=limit.key).values_list("tries", flat=True).first() or 0


def forgive(own: Limit, *shared: Limit) -> None:
    """Forget the tries of a client that is welcome, and its last one where others count too."""
    Throttle.objects.filter(key=own.key).update(tries=0, until=Now())
    keys = sorted(each.key for each in shared)
    with transaction.atomic():
        list(Throttle.objects.filter(key__in=keys).order_by("key").select_for_update())
        Throttle.objects.filter(key__in=keys).update(tries=F("tries") - 1, until=Now())


def spend(client: str, requests: int, per_minute: int) -> timedelta:
    """Note these requests of a visitor; returns how long it must wait if it made too many.

    `until` is when all of its requests would be repaid at `per_minute` (GCRA). A visitor may
    run a minute ahead of that.
    """
    forget_some()
    key = key_of("visitors", client)
    with transaction.atomic():
        row = locked([key])[key]
        now = clock.now()
        owed = max(row.until - now, NONE) + requests * timedelta(minutes=1) / per_minute
        # Not beyond the minute: refused requests don't add to the debt.
        row.until = now + min(owed, timedelta(minutes=1))
        row.save(update_fields=["until"])
    return max(owed - timedelta(minutes=1), NONE)


def locked(keys: list[str]) -> dict[str, Throttle]:
    """The rows of these keys, made where they are missing, locked in order."""
    rows: dict[str, Throttle] = {}
    while len(rows) < len(keys):  # another process may forget a row between the two statements
        missing = [Throttle(key=key) for key in sorted(keys)]
        Throttle.objects.bulk_create(missing, ignore_conflicts=True)
        found = Throttle.objects.filter(key__in=keys).order_by("key")
        rows = {row.key: row for row in found.select_for_update()}
    return rows


@transaction.atomic
def forget_some() -> None:
    """Delete a few rows whose wait ended long ago.

    In a transaction of its own: one that also counts would keep others from the old rows.
    """
    old = Throttle.objects.filter(until__lt=Now() - FORGET).order_by("until")
    keys = old.select_for_update(skip_locked=True).values_list("key", flat=True)
    if some := list(keys[:MOST_FORGOTTEN]):
        Throttle.objects.filter(key__in=some).delete()
