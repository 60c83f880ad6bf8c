"""An expression in words, in the reader's language: "every Monday at 06:00 (Asia/Tokyo)"."""

import re
from collections.abc import Callable

from django.utils.dates import WEEKDAYS
from django.utils.translation import gettext as _

NUMBER = r"\d{1,2}"
DAY_NAMES = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")


def describe(expression: str, time_zone: str) -> str:
    """In words if its form is a common one; else the expression itself."""
    text = " ".join(expression.lower().split())
    for pattern, say in FORMS:
        if found := re.fullmatch(pattern, text):
            return _("%(times)s (%(zone)s)") % {"times": say(*found.groups()), "zone": time_zone}
    return _("%(times)s (%(zone)s)") % {"times": expression, "zone": time_zone}


def _every(minutes: str) -> str:
    if int(minutes) == 1:
        return _("every minute")
    return _("every %(minutes)s minutes") % {"minutes": int(minutes)}


def _hourly(minute: str) -> str:
    return _("every hour at minute %(minute)s") % {"minute": int(minute)}


def _daily(minute: str, hour: str) -> str:
    return _("every day at %(time)s") % {"time": _clock(minute, hour)}


def _weekly(minute: str, hour: str, day: str) -> str:
    number = int(day) if day.isdigit() else DAY_NAMES.index(day)
    name = WEEKDAYS[(number - 1) % 7]  # cron's week begins on Sunday, Django's on Monday
    return _("every %(day)s at %(time)s") % {"day": name, "time": _clock(minute, hour)}


def _on_working_days(minute: str, hour: str) -> str:
    return _("Monday to Friday at %(time)s") % {"time": _clock(minute, hour)}


def _monthly(minute: str, hour: str, day: str) -> str:
    said = {"day": int(day), "time": _clock(minute, hour)}
    return _("every month on day %(day)s at %(time)s") % said


def _at_the_end_of_months(minute: str, hour: str) -> str:
    return _("on the last day of every month at %(time)s") % {"time": _clock(minute, hour)}


def _clock(minute: str, hour: str) -> str:
    return f"{int(hour):02}:{int(minute):02}"


# Only steps that divide an hour are even: cron begins anew at every full hour. The 29th and later
# days don't come in every month, so they are not "every month".
FORMS: list[tuple[str, Callable[..., str]]] = [
    (r"\* \* \* \* \*", lambda: _every("1")),
    (r"\*/(1|2|3|4|5|6|10|12|15|20|30) \* \* \* \*", _every),
    (rf"({NUMBER}) \* \* \* \*", _hourly),
    (rf"({NUMBER}) ({NUMBER}) \* \* \*", _daily),
    (rf"({NUMBER}) ({NUMBER}) \* \* ([0-7]|{'|'.join(DAY_NAMES)})", _weekly),
    (rf"({NUMBER}) ({NUMBER}) \* \* (?:1-5|mon-fri)", _on_working_days),
    (rf"({NUMBER}) ({NUMBER}) (0?[1-9]|1\d|2[0-8]) \* \*", _monthly),
    (rf"({NUMBER}) ({NUMBER}) l \* \*", _at_the_end_of_months),
]
