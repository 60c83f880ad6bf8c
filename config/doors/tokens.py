"""API tokens: rows whose secret is shown once, and the setting API_TOKEN as the simple way."""

import hashlib
import secrets
from datetime import datetime, time, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Case, F, Q, Value, When
from django.db.models.functions import Coalesce, Greatest, Now, TruncDate
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare

from config.doors import limiter
from config.doors.addresses import address_of, group_of
from config.doors.limiter import Limit, Rule
from config.doors.models import USUAL_QUOTA, ApiToken, ApiTokenQuerySet
from jobs.db import clock
from jobs.db.inserts import insert_missing

WRONG = Rule("token", free=10, longest=timedelta(minutes=1))
NOTED_EVERY = timedelta(minutes=1)  # the use of a token that asks for no pictures
SETTING = "API_TOKEN"  # the name of the row that counts what the setting's token asks for
IN_ENVIRONMENT = ""  # the hash of that row, which no secret has


class TooManyPictures(Exception):
    """The token's quota for today does not cover what was asked for."""

    def __init__(self, token: ApiToken, pictures: int) -> None:
        row = ApiToken.objects.filter(digest=token.digest).first() or token
        now = clock.now()
        midnight = datetime.combine(now.date() + timedelta(days=1), time(), now.tzinfo)
        self.most, self.asked = row.pictures_per_day or 0, pictures
        self.seconds = max(1.0, (midnight - now).total_seconds())


def is_open() -> bool:
    """Closed without a token: an empty one would let everyone in."""
    return bool(settings.API_TOKEN) or usable_rows().exists()


def usable_rows() -> ApiTokenQuerySet:
    return ApiToken.objects.usable().exclude(digest=IN_ENVIRONMENT)


def find(request: HttpRequest) -> ApiToken | None:
    """The token that the request carries, if it is right.

    A right one is never kept waiting: a token is too long to be guessed, and other clients may
    share its address.
    """
    secret = bearer(request)
    return find_row(secret) if secret else None


def bearer(request: HttpRequest) -> str:
    """The secret in the header Authorization; empty if there is none."""
    scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else ""


def wait_after_wrong(request: HttpRequest) -> timedelta:
    """Count a wrong token; returns how long this address must wait if it sent too many."""
    address = group_of(address_of(request))
    if not address:  # all clients would be counted as one
        return limiter.NONE
    limit = Limit(WRONG, address)
    return limiter.wait_for(limit) or limiter.count(limit)


def find_row(secret: str) -> ApiToken | None:
    if settings.API_TOKEN and constant_time_compare(secret, settings.API_TOKEN):
        return ApiToken(name=SETTING, digest=IN_ENVIRONMENT)
    return usable_rows().filter(digest=digest_of(secret)).first()


def spend(token: ApiToken, pictures: int) -> None:
    """Book pictures in the transaction that asks for them; raises TooManyPictures."""
    if not (booked(token, pictures) or booked_first(token, pictures)):
        raise TooManyPictures(token, pictures)


def booked_first(token: ApiToken, pictures: int) -> bool:
    """Make the row of the setting API_TOKEN, which is missing until its first use."""
    if token.digest != IN_ENVIRONMENT or pictures > USUAL_QUOTA:
        return False
    today: Any = TruncDate(Now())
    row = ApiToken(name=SETTING, digest=IN_ENVIRONMENT, used=pictures, used_on=today)
    return bool(insert_missing([row])) or booked(token, pictures)


def booked(token: ApiToken, pictures: int) -> bool:
    """One UPDATE that names the limit, so that many at once can't pass it together."""
    today = TruncDate(Now())
    # Only a later day resets the count: a corrected clock must not.
    used = Case(When(used_on__gte=today, then=F("used")), default=Value(0)) + pictures
    rows = ApiToken.objects.usable().filter(digest=token.digest)
    if pictures:
        rows = rows.filter(Q(pictures_per_day=None) | Q(pictures_per_day__gte=used))
    elif rows.filter(last_used_at__gt=Now() - NOTED_EVERY).exists():
        return True  # a program that polls must not write each time
    changed = rows.update(
        used=used, used_on=Greatest(Coalesce("used_on", today), today), last_used_at=Now()
    )
    return bool(changed)


# What people do


def give_secret(token: ApiToken) -> str:
    """Give the token a new secret, which ends the old one; nothing but its hash is kept."""
    secret = f"tabie_{secrets.token_urlsafe(32)}"
    token.digest = digest_of(secret)
    return secret


def revoke(token: ApiToken) -> bool:
    """End a token for good; its row stays as a record."""
    return bool(usable_rows().filter(pk=token.pk).update(revoked_at=Now()))


def digest_of(secret: str) -> str:
    """A fast hash is enough: the secret is random, and too long to be guessed."""
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()
