"""What visitors see of weeks: the newest first, each in their language or in another."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from django.conf import settings
from django.db.models import QuerySet
from django.utils.translation import get_language

from guides import languages
from guides.models import Guide
from guides.weeks import keeping
from guides.weeks.keys import InvalidWeek, Week
from guides.weeks.models import WeekText


@dataclass(frozen=True)
class ShownWeek:
    """A week and the text that this visitor gets."""

    text: WeekText

    @property
    def week(self) -> Week:
        return self.text.week

    @property
    def words(self) -> str:
        return self.week.words

    @property
    def summary(self) -> str:
        return self.text.summary_text

    @property
    def language(self) -> str:
        """The language of the text, if it is not the page's."""
        return "" if self.text.language == get_language() else self.text.language

    @cached_property
    def key_events(self) -> list[str]:
        return keeping.events_of(self.text.summary_json)

    @cached_property
    def what_changed(self) -> str:
        return keeping.change_of(self.text.summary_json)

    @property
    def url(self) -> str:
        return self.text.get_absolute_url()

    def is_over(self, now: datetime) -> bool:
        return now >= self.text.ends_at


def keys() -> QuerySet[WeekText, str]:
    """The weeks that have a page, newest first."""
    names = WeekText.objects.shown().order_by("-week_key").values_list("week_key", flat=True)
    return names.distinct()


def latest() -> ShownWeek | None:
    found = keys().first()
    return find(found) if found else None


def find(week_key: str) -> ShownWeek | None:
    """The page of a week, if anything is said of it; its guides may be gone."""
    if not is_week(week_key):
        return None
    rows = list(WeekText.objects.written().filter(week_key=week_key))
    return ShownWeek(chosen(rows)) if rows else None


def is_week(week_key: str) -> bool:
    """Whether this names a week; other programs may have stored anything."""
    try:
        Week.parse(week_key)
    except InvalidWeek:
        return False
    return True


def find_all(week_keys: Iterable[str]) -> list[ShownWeek]:
    """These weeks in this order, in one query, without what only their own page shows."""
    keys = list(filter(is_week, week_keys))
    by_key: dict[str, list[WeekText]] = {}
    for row in WeekText.objects.written().filter(week_key__in=keys).defer("summary_json"):
        by_key.setdefault(row.week_key, []).append(row)
    return [ShownWeek(chosen(by_key[key])) for key in keys if key in by_key]


def chosen(rows: Iterable[WeekText]) -> WeekText:
    """The text in the visitor's language, else in the site's, else in the first that there is."""
    wanted = [get_language(), settings.LANGUAGE_CODE, *languages.codes()]
    return min(rows, key=lambda row: wanted.index(row.language))


def guides_of(text: WeekText) -> QuerySet[Guide]:
    """The published guides of a week, newest first."""
    created = {"created_at__gte": text.starts_at, "created_at__lt": text.ends_at}
    return Guide.objects.published().filter(**created).order_by("-created_at", "plan_id")
