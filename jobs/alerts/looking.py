"""Compares what needs a person now with the open alerts: what began, what ended.

Never a flood: a need ends only after an absence, and is told again only after a quiet time. There
are never more than `MOST` alerts, those that ended within the hour included. So no hour has more
than 2 × `MOST` messages by one way, and four about `MANY`.
"""

import hashlib
from collections.abc import Iterable
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.db.models.functions import Now
from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext as _

from jobs.alerts import messages, wording
from jobs.alerts.wording import Event
from jobs.console import needs
from jobs.console.needs import Need
from jobs.db import inserts, sessions
from jobs.models import Alert

ABSENT = timedelta(minutes=5)  # before a need counts as ended
QUIET = timedelta(minutes=30)  # after an end, before the same need is told again
HOUR = timedelta(hours=1)
MOST = 20
MANY = "many"  # kind of the alert that says that there are more
LONGEST_KEY = 500  # an index takes no long texts

Alerts = dict[str, Alert]  # by key, the most urgent first


def look() -> None:
    """Look once: alerts begin and end, and their messages are enqueued with that."""
    with wording.in_the_sites_language():
        compare(present())


def present() -> Alerts:
    """What needs a person now, as alerts that are not saved."""
    found = needs.needs(needs.Situation.look())
    alerts = [alert_about(need) for need in found if not is_about_alerts(need)]
    return {alert.key: alert for alert in alerts}


def is_about_alerts(need: Need) -> bool:
    """A message that can't be delivered must not lead to another one."""
    return need.model.__module__.startswith("jobs.alerts.")


def alert_about(need: Need) -> Alert:
    text = wording.one_line(need.text)
    return Alert(key=key_of(need), kind=need.kind, text=text, path=path_of(need))


def key_of(need: Need) -> str:
    """What a need is about. Not its text: the figures in it change."""
    query = urlencode(sorted(need.query.items()))
    key = f"{need.kind} {need.model._meta.label} {query}".rstrip()
    if len(key) <= LONGEST_KEY:
        return key
    return f"{key[:400]} {hashlib.sha256(key.encode()).hexdigest()}"


def path_of(need: Need) -> str:
    """The console's list that shows it; empty in a project without the console."""
    opts = need.model._meta
    try:
        path = reverse(f"admin:{opts.app_label}_{opts.model_name}_changelist")
    except NoReverseMatch:
        return ""
    return f"{path}?{urlencode(need.query)}" if need.query else path


def is_current(alert: Alert, now: datetime) -> bool:
    """Whether its state is known: it has ended, or a worker has looked lately."""
    return alert.ended_at is not None or now - alert.seen_at < ABSENT


def compare(found: Alerts) -> None:
    """Begin and end alerts, in one transaction with their messages."""
    with sessions.short_transaction():
        # In order, so that two looks at once do not deadlock.
        locked = Alert.objects.open().order_by("pk").select_for_update(no_key=True)
        known = {alert.key: alert for alert in locked}
        found, new = _choose(found, known)
        _see_again(found, known)
        _end(alert for key, alert in known.items() if key not in found)
        _begin(new)


def _choose(found: Alerts, known: Alerts) -> tuple[Alerts, Alerts]:
    """All needs, and those of them that become alerts now. The others wait for their turn."""
    candidates = _tellable(found, known)
    if not candidates:
        return found, {}
    recent = Alert.objects.open() | Alert.objects.ended_within(HOUR)
    room = MOST - recent.exclude(kind__in=[MANY, messages.TEST]).count()
    new = dict(list(candidates.items())[: max(room, 0)])
    if len(new) < len(candidates):
        more = alert_about(_more())
        found = {**found, more.key: more}
        new |= _tellable({more.key: more}, known)
    return found, new


def _tellable(found: Alerts, known: Alerts) -> Alerts:
    """Those that are not open, and have not ended a moment ago."""
    missing = {key: alert for key, alert in found.items() if key not in known}
    if not missing:
        return {}
    ended = Alert.objects.ended_within(QUIET).filter(key__in=missing)
    quiet = set(ended.values_list("key", flat=True))
    return {key: alert for key, alert in missing.items() if key not in quiet}


def _more() -> Need:
    text = _("More needs a person than alerts tell (%(most)s within an hour): see the dashboard.")
    return Need(MANY, text % {"most": MOST}, Alert)


def _see_again(found: Alerts, known: Alerts) -> None:
    for key, alert in known.items():
        if key in found:
            Alert.objects.filter(pk=alert.pk).update(seen_at=Now(), text=found[key].text)


def _end(absent: Iterable[Alert]) -> None:
    over = Alert.objects.open().filter(pk__in=[alert.pk for alert in absent])
    ended = list(over.filter(seen_at__lte=Now() - ABSENT).values_list("pk", flat=True))
    Alert.objects.filter(pk__in=ended).update(ended_at=Now())
    messages.tell(Event.ENDED, ended)


def _begin(new: Alerts) -> None:
    ordered = [new[key] for key in sorted(new)]  # as every look does
    messages.tell(Event.BEGUN, inserts.insert_missing(ordered))
