"""What people did, from Django's log: newest first, however long the log is.

The log has no index of times, but its ids grow with them: it is read by id.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any

from django.contrib.admin.models import ADDITION, DELETION, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import ValidationError
from django.db.models import Model, Q, QuerySet
from django.utils.translation import gettext as _

from jobs.console import sentences
from jobs.console.counting import MANY

Entries = QuerySet[LogEntry]

# Web servers write the times by their own clocks, and the ids when a transaction gets to it.
SKEW = timedelta(hours=1)


def newest(entries: Entries) -> Entries:
    """The newest 10,000 of these: a condition without an index reads no more than those."""
    ids = entries.order_by("-id").values_list("id", flat=True)
    last = ids[MANY - 1 : MANY].first()
    return entries.filter(id__gte=last) if last else entries


def within(entries: Entries, first: datetime | None, end: datetime | None) -> Entries:
    """Those of these entries from `first` on and before `end`, found by their ids."""
    if first:
        entries = entries.filter(id__gte=first_id(first - SKEW), action_time__gte=first)
    if end:
        entries = entries.filter(id__lt=first_id(end + SKEW), action_time__lt=end)
    return entries


def first_id(moment: datetime) -> int:
    """The id from which on entries are not older than this moment, by binary search."""
    edges = LogEntry.objects.order_by("id").values_list("id", flat=True)
    low, high = edges.first() or 0, (edges.last() or 0) + 1
    while low < high:
        middle = (low + high) // 2
        entry = LogEntry.objects.filter(id__gte=middle).order_by("id").first()
        if entry and entry.action_time < moment:
            low = entry.pk + 1
        else:
            high = middle
    return low


def about_words(text: str) -> Q:
    return Q(change_message__icontains=text) | Q(object_repr__icontains=text)


def told(entry: LogEntry) -> str:
    """What was done, in the reader's language."""
    if message := sentences.told(entry.get_change_message()):
        return message
    words = {ADDITION: _("Added."), DELETION: _("Deleted.")}
    return words.get(entry.action_flag, _("Changed."))


def existing(entries: Iterable[LogEntry], may_see: Callable[[Any], bool]) -> dict[int, Model]:
    """The rows that these entries are about, by the entry's id: those that are still there.

    One query per kind of row.
    """
    wanted: dict[type[Model], dict[Any, list[int]]] = defaultdict(lambda: defaultdict(list))
    for entry in entries:
        model = model_of(entry)
        key = key_of(model, entry.object_id) if model and may_see(model) else None
        if model and key is not None:
            wanted[model][key].append(entry.pk)
    return {
        id: row
        for model, keys in wanted.items()
        for row in model._base_manager.filter(pk__in=list(keys))
        for id in keys[row.pk]
    }


def model_of(entry: LogEntry) -> type[Model] | None:
    """The model of the row that an entry is about; None if it is not installed any more."""
    if entry.content_type_id is None:
        return None
    return ContentType.objects.get_for_id(entry.content_type_id).model_class()


def key_of(model: type[Model], id: str | None) -> Any:
    """The primary key in a stored text; None if no row can have it."""
    if not id or "\x00" in id:
        return None
    try:
        key = model._meta.pk.to_python(id)
        model._meta.pk.run_validators(key)
    except (ValidationError, ValueError):
        return None
    return key
