"""Keeping what was answered about a week, what a person corrects, and what they put back."""

import re
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from guides import languages
from guides.derived import commissions, plain_text, versions
from guides.derived.models import Commission, Version
from guides.weeks.models import KIND, WeekText
from jobs.llm.models import LLMJob
from jobs.models import Status

LONGEST_TEXT = 3_000
LONGEST_EVENT = 300
LONGEST_CHANGE = 1_000
MOST_EVENTS = 8
QUOTED = re.compile(r'"((?:[^"\\\n]|\\.){2,})"')
Answer = dict[str, Any]


def keep(
    week_key: str,
    asked_for: Sequence[Sequence[str]],
    answers: Sequence[LLMJob],
    commission: Commission,
) -> None:
    """Save the answers, in the transaction with which their requests disappear."""
    rows = WeekText.objects.locked(week_key)
    for answer in answers:
        language, source_hash = asked_for[answer.position]
        if row := rows.get(language):
            take(row, answer, source_hash, commission)
    ours = [row.pk for row in rows.values() if row.asked == commission.pk]
    WeekText.objects.filter(pk__in=ours).update(is_awaited=False)


def take(row: WeekText, answer: LLMJob, source_hash: str, commission: Commission) -> None:
    """Show an answer, unless it is no use, out of date, or a person's words stand in its place."""
    if not is_usable(answer, row.language):
        return
    data: Answer = answer.response_json["data"]  # type: ignore[index]
    maker = commissions.maker_of(answer)
    note_version(row, data, maker, job_id=answer.id, process_id=commission.pk)
    if row.summary_text and row.asked != commission.pk:
        return  # newer facts were asked about since
    if is_corrected(row, source_hash, commission):
        WeekText.objects.filter(pk=row.pk).update(source_hash=source_hash)
    else:
        show(row, data, source_hash=source_hash, edited_at=None)


def is_corrected(row: WeekText, source_hash: str, commission: Commission) -> bool:
    """Whether a person's words stay: of the same facts, or written while this was on its way."""
    if row.edited_at is None:
        return False
    return row.source_hash == source_hash or row.edited_at >= commission.created_at


def is_usable(answer: LLMJob, language: str) -> bool:
    """Whether an answer has a text in its language. Names that its request quotes don't count."""
    if answer.status != Status.SUCCEEDED or not answer.response_json:
        return False
    data = answer.response_json.get("data")
    text = text_of(data) if isinstance(data, dict) else ""
    return bool(text) and languages.can_be(without_names(text, answer), language)


def without_names(text: str, answer: LLMJob) -> str:
    names = set(QUOTED.findall(str(answer.request_json.get("prompt", ""))))
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, " ")
    return text


def words_of(text: object, most: int, *, lines: bool = False) -> str:
    """A part of an answer as plain words. Of a huge one, only the beginning is read.

    Pages call this: 50,000 letters would take a tenth of a second each.
    """
    beginning = text[: 4 * most] if isinstance(text, str) else text
    return plain_text.plain(beginning, most, lines=lines)


def text_of(data: Answer) -> str:
    return words_of(data.get("summary_text"), LONGEST_TEXT, lines=True)


def events_of(data: Answer) -> list[str]:
    """Its key events as a page may show them."""
    events = data.get("key_events")
    events = events[: 2 * MOST_EVENTS] if isinstance(events, list) else []
    shown = (words_of(event, LONGEST_EVENT) for event in events)
    return list(dict.fromkeys(filter(None, shown)))[:MOST_EVENTS]


def change_of(data: Answer) -> str:
    return words_of(data.get("what_changed"), LONGEST_CHANGE, lines=True)


def show(row: WeekText, data: Answer, **columns: Any) -> None:
    rows = WeekText.objects.filter(pk=row.pk)
    text = text_of(data)
    rows.update(summary_text=text, summary_json=data, updated_at=Now(), **columns)


def note_version(
    row: WeekText,
    data: Answer,
    made_by: str,
    *,
    job_id: UUID | None = None,
    process_id: UUID | None = None,
) -> None:
    versions.keep(row.unit, data, made_by=made_by, job_id=job_id, process_id=process_id)


@transaction.atomic
def correct(row: WeekText, data: Answer, by: object) -> bool:
    """Show what a person wrote; it stays until the facts of the week change.

    False: the text is no longer the one that the person had read.
    """
    stored = WeekText.objects.select_for_update().get(pk=row.pk)
    if stored.updated_at != row.updated_at:
        return False
    corrected = {**stored.summary_json, **data}
    note_version(stored, corrected, str(by))
    show(stored, corrected, edited_at=Now())
    return True


@versions.puts_back(KIND)
def put_back(version: Version) -> None:
    """Show an older text of a week again: a person chose it, so it stays as a corrected one."""
    _kind, language, week_key = version.unit.split(":", 2)
    rows = WeekText.objects.select_for_update().filter(week_key=week_key, language=language)
    for row in rows:
        show(row, version.payload, edited_at=Now())


@versions.shows(KIND)
def shown(unit: str) -> Answer | None:
    _kind, language, week_key = unit.split(":", 2)
    rows = WeekText.objects.filter(week_key=week_key, language=language)
    return next((row.summary_json for row in versions.lockable(rows) if row.summary_text), None)
