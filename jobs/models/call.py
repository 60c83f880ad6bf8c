"""Paid calls: each intent to call, and its result."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from jobs.models.provider import Strategy

OVERDUE = timedelta(seconds=15)  # after its deadline; by then its worker would have recorded it


class State(models.TextChoices):
    """What is known about a call: intent -> stored, failed or unknown; a late answer -> stored.

    A call that is made in a batch waits first: it costs nothing until the batch is created.
    """

    WAITING = "waiting", _("waits for a batch")
    INTENT = "intent", _("under way")  # written before the request is sent
    STORED = "stored", _("stored")  # the answer is kept and never bought again
    FAILED = "failed", _("failed")  # the answer was an error, or unusable
    UNKNOWN = "unknown", _("unknown")  # the answer was lost; the call counts as paid


class CallQuerySet(models.QuerySet["Call"]):
    def same(self, call: "Call") -> "CallQuerySet":
        """This call and no other: a failover that lost commits issues primary keys again."""
        return self.filter(
            pk=call.pk, key=call.key, number=call.number, epoch=call.epoch, worker=call.worker
        )

    def uncollected(self) -> "CallQuerySet":
        """Calls that wait for a batch, and that no batch has collected."""
        return self.filter(state=State.WAITING, batch_id=None)

    def for_batch(self) -> "CallQuerySet":
        """Calls that wait for a batch or are in one; not those that are made at once instead."""
        collected = Q(state__in=[State.WAITING, State.INTENT], batch_id__isnull=False)
        waiting = Q(state=State.WAITING, batch_id=None) & ~Q(strategy=Strategy.SYNC)
        return self.filter(collected | waiting)

    def under_way(self) -> "CallQuerySet":
        """Calls whose answer may still come."""
        return self.filter(state=State.INTENT, deadline__gte=Now() - OVERDUE)

    def unknown(self) -> "CallQuerySet":
        """Calls that may or may not have been paid for."""
        overdue = Q(state=State.INTENT, deadline__lt=Now() - OVERDUE)
        return self.filter(Q(state=State.UNKNOWN) | overdue)

    def unseen(self) -> "CallQuerySet":
        """Unknown calls that no person has looked into."""
        return self.unknown().filter(seen=False)

    def mark_seen(self) -> int:
        """Record that a person looked into these. This alone allows no further purchase."""
        return self.unseen().update(seen=True)

    mark_seen.alters_data = True  # type: ignore[attr-defined]


class Call(models.Model):
    """One request to a provider. Money is counted here even if the job was lost meanwhile."""

    # No foreign keys: calls outlive jobs, and inserting a call must not lock the provider's row.
    provider = models.TextField(_("provider"))
    job_id = models.UUIDField(_("job"))
    kind = models.TextField(_("kind"), help_text=_("app.Model of the job"))
    epoch = models.IntegerField(_("epoch"))
    worker = models.TextField(_("worker"))
    key = models.CharField(_("key"), max_length=64, help_text=_("of the job and its payload"))
    number = models.IntegerField(_("try"), db_column="try")
    payload_hash = models.CharField(_("payload hash"), max_length=64)
    state = models.TextField(_("state"), choices=State.choices, db_default=State.INTENT)
    remote_id = models.TextField(_("remote id"), db_default="")
    answer_name = models.TextField(
        _("name of the answer"), help_text=_("computed from the call, so that recovery can find it")
    )
    answer_hash = models.CharField(_("hash of the answer"), max_length=64, db_default="")
    answer_size = models.BigIntegerField(_("bytes of the answer"), null=True)
    answer_expired = models.BooleanField(
        _("answer expired"), db_default=False, help_text=_("retention deletes its file")
    )
    cost = models.DecimalField(_("cost"), max_digits=18, decimal_places=8, default=Decimal(0))
    booked_on = models.DateField(_("spent on"), null=True)
    started_at = models.DateTimeField(_("started"), db_default=Now())
    deadline = models.DateTimeField(_("deadline"), help_text=_("no answer is expected after it"))
    finished_at = models.DateTimeField(_("ended"), null=True)
    error = models.TextField(_("error"), db_default="")
    error_kind = models.TextField(
        _("kind of error"), db_default="", help_text=_("of a batch's line, which its job gets")
    )
    # Of a call in a batch
    batch_id = models.UUIDField(_("batch"), null=True)
    request = models.JSONField(_("request"), null=True, help_text=_("until it has ended"))
    strategy = models.TextField(
        _("strategy"), db_default="", help_text=_("that its job or a person asked for")
    )
    excused = models.BooleanField(
        _("excused"),
        db_default=False,
        help_text=_("a person requeued the job, which allows another call"),
    )
    seen = models.BooleanField(
        _("seen"), db_default=False, help_text=_("a person has looked into it")
    )

    is_archived = False  # read from a file; its row has left

    objects = CallQuerySet.as_manager()

    class Meta:
        db_table = "provider_calls"
        verbose_name = _("call")
        verbose_name_plural = _("calls")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["key", "number"], name="one_call_per_try"),
            models.UniqueConstraint(
                fields=["key"],
                condition=Q(state__in=["waiting", "intent"]),
                name="one_call_under_way_per_key",
            ),
            models.CheckConstraint(name="call_state", condition=Q(state__in=State.values)),
            models.CheckConstraint(name="call_try", condition=Q(number__gte=1)),
        ]
        indexes: ClassVar = [
            # The calls of one job, and whether a claim has made its call yet.
            models.Index(fields=["job_id", "epoch"], name="call_job"),
            # A provider's recent calls.
            models.Index(fields=["provider", "started_at"], name="call_recent"),
            # The operators' lists: all calls, and those in one state.
            models.Index(fields=["started_at"], name="call_started"),
            models.Index(fields=["state", "started_at"], name="call_state_started"),
            # What the next batch collects, and the calls of one batch.
            models.Index(
                fields=["provider", "id"], name="call_waiting", condition=Q(state="waiting")
            ),
            models.Index(
                fields=["batch_id"], name="call_batch", condition=Q(batch_id__isnull=False)
            ),
            # The few calls that need a person.
            models.Index(
                fields=["started_at"],
                name="call_unknown",
                condition=Q(state="unknown") & Q(seen=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.provider} #{self.number}"

    def is_unknown(self, now: datetime) -> bool:
        """Whether it may or may not have been paid for; like `CallQuerySet.unknown()`."""
        is_overdue = self.state == State.INTENT and self.deadline < now - OVERDUE
        return self.state == State.UNKNOWN or is_overdue

    @property
    def is_in_batch(self) -> bool:
        """Whether its batch will bring the answer, or has collected it to do so."""
        return self.batch_id is not None and self.state in (State.WAITING, State.INTENT)

    def shown_state(self, now: datetime) -> State:
        """What people are told: a call whose answer can't come any more is not under way."""
        return State.UNKNOWN if self.is_unknown(now) else State(self.state)

    @property
    def seconds(self) -> float:
        """How long the answer took. An answer found after a crash came before its deadline."""
        if self.finished_at is None:
            return 0.0
        return (min(self.finished_at, self.deadline) - self.started_at).total_seconds()
