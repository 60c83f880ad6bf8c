"""Making calls at once that wait for a batch: the question, and what is said afterwards."""

from collections.abc import Sequence

from django.contrib import messages
from django.db import transaction
from django.db.models import Model
from django.http import HttpRequest
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from jobs.admin.asking import AskingAdmin, Question
from jobs.console import audit, counting
from jobs.console.counting import Number
from jobs.console.shown import number
from jobs.models.call import CallQuerySet
from jobs.paid.batches import asked

HURRY = "hurry"
HURRIED = gettext_noop("Took its waiting calls out of the batch, to make them at once.")


def questions(calls: Sequence[CallQuerySet]) -> list[Question]:
    """One, if any of these calls can be made at once; `batches.hurriable()` says which can."""
    if not any(rows.exists() for rows in calls):
        return []
    return [Question(HURRY, _("Make the rest at once"), lambda: effects(calls))]


def effects(calls: Sequence[CallQuerySet]) -> list[str]:
    numbers = counting.counts(dict(enumerate(calls)))
    waits = Number(sum(map(int, numbers.values())))
    return [
        gettext("Calls that wait for a batch: %s") % waits,
        gettext("They are made one by one, as soon as the provider’s limits allow, at full price."),
        gettext("Calls that a batch has collected stay in it: they may be paid for already."),
    ]


def hurry(
    page: AskingAdmin, request: HttpRequest, row: Model, calls: Sequence[CallQuerySet]
) -> None:
    with transaction.atomic():
        hurried = sum(asked.hurry(rows, request.user) for rows in calls)
        if hurried:
            audit.note(request.user, [row], HURRIED)
    text = gettext("Calls that are made at once now: %s.") % number(hurried)
    page.message_user(request, text, messages.SUCCESS if hurried else messages.WARNING)
