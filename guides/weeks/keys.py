"""Weeks by their names, such as 2026-W47: ISO weeks in the site's time zone."""

import re
from datetime import date, datetime, time, timedelta
from typing import NamedTuple, Self

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

KEY = re.compile(r"([0-9]{4})-W([0-9]{2})", re.ASCII)
FIRST_YEAR, LAST_YEAR = 2000, 2999  # within these, keys sort as their weeks do


class InvalidWeek(ValueError):
    """This is not the name of a week; the text names the value."""

    silent_variable_failure = True  # templates show nothing in its place


class Week(NamedTuple):
    year: int
    number: int

    @classmethod
    def parse(cls, key: object) -> Self:
        """The week of this name; raises InvalidWeek."""
        found = KEY.fullmatch(key) if isinstance(key, str) else None
        try:
            week = cls(int(found[1]), int(found[2])) if found else None
            if week and FIRST_YEAR <= week.year <= LAST_YEAR and week.first_day:
                return week
        except ValueError:  # a year without this week
            pass
        raise InvalidWeek(
            _("%(value)s is not a week. Weeks are named like 2026-W47, from %(first)d to %(last)d.")
            % {"value": ascii(key)[:40], "first": FIRST_YEAR, "last": LAST_YEAR}
        )

    @classmethod
    def of(cls, moment: datetime) -> Self:
        """The week of a moment, by the calendar of the site's time zone."""
        return cls.of_day(moment.astimezone(timezone.get_default_timezone()).date())

    @classmethod
    def of_day(cls, day: date) -> Self:
        year, number, _weekday = day.isocalendar()
        return cls(year, number)

    @property
    def key(self) -> str:
        return f"{self.year:04}-W{self.number:02}"

    @property
    def first_day(self) -> date:
        return date.fromisocalendar(self.year, self.number, 1)

    @property
    def last_day(self) -> date:
        return self.first_day + timedelta(days=6)

    @property
    def before(self) -> "Week":
        return Week.of_day(self.first_day - timedelta(days=7))

    @property
    def starts_at(self) -> datetime:
        return midnight(self.first_day)

    @property
    def ends_at(self) -> datetime:
        """The first moment that no longer belongs to it."""
        return midnight(self.first_day + timedelta(days=7))

    @property
    def words(self) -> str:
        """Its days, as people say them: November 16 – 22, 2026."""
        first, last = self.first_day, self.last_day
        if first.year != last.year:
            return f"{date_format(first, 'DATE_FORMAT')} – {date_format(last, 'DATE_FORMAT')}"
        end = "END_OF_WEEK_FORMAT" if first.month != last.month else "END_OF_WEEK_IN_MONTH_FORMAT"
        return f"{date_format(first, 'START_OF_WEEK_FORMAT')} – {date_format(last, end)}"


def midnight(day: date) -> datetime:
    """The beginning of a day; where the clock jumps over it, the moment of the jump."""
    return datetime.combine(day, time(), timezone.get_default_timezone())
