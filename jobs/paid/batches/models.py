"""A batch of calls at one provider."""

import secrets
from datetime import timedelta
from decimal import Decimal
from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from jobs import settings
from jobs.db import inserts, sessions
from jobs.models import Job, JobQuerySet, Status
from jobs.paid.batches import course
from jobs.run import Run
from jobs.tracing import logged


def new_token() -> str:
    return secrets.token_hex(16)


class BatchQuerySet(JobQuerySet):
    @logged
    def collect_soon(
        self, provider: str, most_calls: int | None = None, after: float | None = None
    ) -> None:
        """Make sure that a batch will collect the provider's waiting calls.

        The calls must be committed by now, or the provider's row locked until they are. A batch
        that is collecting first marks itself and then looks: either it sees the calls, or this
        waits for it and inserts the next batch.
        """
        wait = timedelta(seconds=settings.BATCH_COLLECT_SECONDS if after is None else after)
        batch = Batch(provider=provider, run_after=Now() + wait, most_calls=most_calls)
        with sessions.short_transaction():
            if not inserts.insert_missing([batch]) and most_calls:
                collecting = self.living().filter(provider=provider, collected_at=None)
                collecting.update(most_calls=most_calls)


class Batch(Job):
    """Collects waiting calls, submits them, polls, and hands the answers out.

    Each step is recorded before the next begins, so that any worker can go on from there.
    """

    provider = models.TextField(_("provider"))
    token = models.TextField(
        _("token"),
        default=new_token,
        unique=True,
        help_text=_("by which the batch is found again in the provider's list"),
    )
    most_calls = models.IntegerField(
        _("most calls"), null=True, blank=True, help_text=_("empty: as many as the settings allow")
    )
    form = models.TextField(_("form"), default="", db_default="", blank=True)
    collected_at = models.DateTimeField(_("collected"), null=True, blank=True)
    input_file = models.TextField(_("input file"), default="", db_default="", blank=True)
    create_sent_at = models.DateTimeField(_("creation sent"), null=True, blank=True)
    missed_since = models.DateTimeField(_("results missed since"), null=True, blank=True)
    remote_id = models.TextField(_("remote id"), default="", db_default="", blank=True)
    submitted_at = models.DateTimeField(_("submitted"), null=True, blank=True)
    state = models.TextField(_("state"), default="", db_default="", blank=True)
    polls = models.IntegerField(_("polls"), default=0, db_default=0)
    total = models.IntegerField(_("calls"), default=0, db_default=0)
    done = models.IntegerField(_("done"), default=0, db_default=0)
    failed = models.IntegerField(_("failed"), default=0, db_default=0)
    cancel_asked = models.BooleanField(_("cancel asked"), default=False, db_default=False)
    ended_at = models.DateTimeField(_("ended at the provider"), null=True, blank=True)
    file = models.TextField(
        _("results"), default="", db_default="", blank=True, help_text=_("where they are stored")
    )
    booked = models.DecimalField(
        _("booked"), max_digits=18, decimal_places=8, default=Decimal(0), db_default=Decimal(0)
    )

    timeout = timedelta(minutes=15)
    patience = timedelta(days=14)

    objects: ClassVar = BatchQuerySet.as_manager()

    class Meta(Job.Meta):
        db_table = "llm_batches"
        verbose_name = _("batch")
        verbose_name_plural = _("batches")
        constraints: ClassVar = [
            *Job.Meta.constraints,
            models.UniqueConstraint(
                fields=["provider"],
                condition=Q(collected_at=None, status__in=[Status.QUEUED, Status.PROCESSING]),
                name="one_collecting_batch_per_provider",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.provider} {self.remote_id or self.token}"

    @property
    def is_cancelable(self) -> bool:
        """No: it is canceled at the provider, and what is finished there is still used."""
        return False

    def perform(self, run: Run) -> None:
        course.take(self, run)

    def on_failure(self, error: BaseException) -> None:
        course.give_up(self, error)
