"""A paid service and its limits, which hold for the whole fleet."""

import math
from datetime import date, datetime, timedelta
from decimal import ROUND_UP, Decimal
from typing import ClassVar

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

MILLION = 1_000_000
SMALLEST = Decimal("0.00000001")  # that the columns of money can hold
BREAKER_FAULTS = 5  # in a row; from then on one job at a time, until a call succeeds
NONE = timedelta(0)


class Strategy(models.TextChoices):
    """How calls are made: each by itself, or many together, later and cheaper."""

    SYNC = "sync", _("at once")
    BATCH = "batch", _("in batches")


class ProviderQuerySet(models.QuerySet["Provider"]):
    def with_now(self) -> "ProviderQuerySet":
        """Each row with the time of the database's clock, which its properties compare with."""
        return self.annotate(now=Now())  # type: ignore[no-redef]


class Provider(models.Model):
    """One service and model. Operators edit the limits; `jobs.paid` writes the rest."""

    name = models.TextField(_("name"), primary_key=True, help_text=_("service:model"))
    requests_per_minute = models.IntegerField(
        _("requests per minute"),
        null=True,
        blank=True,
        default=15,
        db_default=15,
        validators=[MinValueValidator(1)],
        help_text=_("empty: unlimited"),
    )
    burst = models.IntegerField(
        _("burst"),
        default=5,
        db_default=5,
        validators=[MinValueValidator(1)],
        help_text=_("calls that may start at once after a quiet time"),
    )
    max_running = models.IntegerField(
        _("jobs at once"),
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text=_("empty: as many as the workers have slots"),
    )
    timeout = models.IntegerField(
        _("timeout"),
        default=25,
        db_default=25,
        validators=[MinValueValidator(1), MaxValueValidator(3600)],
        help_text=_("seconds; a call that is cut off is still billed, so choose a generous value"),
    )
    price = models.DecimalField(
        _("price"),
        max_digits=12,
        decimal_places=4,
        default=Decimal(0),
        db_default=Decimal(0),
        validators=[MinValueValidator(0)],
        help_text=_("of one call; replaced by the true cost when the answer states it"),
    )
    input_price = models.DecimalField(
        _("price of a million input tokens"),
        max_digits=12,
        decimal_places=4,
        default=Decimal(0),
        db_default=Decimal(0),
        validators=[MinValueValidator(0)],
        help_text=_("added to the price of a call"),
    )
    output_price = models.DecimalField(
        _("price of a million output tokens"),
        max_digits=12,
        decimal_places=4,
        default=Decimal(0),
        db_default=Decimal(0),
        validators=[MinValueValidator(0)],
        help_text=_("added to the price of a call"),
    )
    strategy = models.TextField(
        _("strategy"),
        choices=Strategy.choices,
        default=Strategy.SYNC,
        db_default=Strategy.SYNC,
        help_text=_("in batches: later, usually within a day, and cheaper"),
    )
    batch_percent = models.SmallIntegerField(
        _("price in a batch, in percent"),
        default=50,
        db_default=50,
        validators=[MinValueValidator(1), MaxValueValidator(100)],
    )
    batch_note = models.TextField(
        _("why there are no batches"), blank=True, default="", db_default="", editable=False
    )
    daily_budget = models.DecimalField(
        _("budget per day"),
        max_digits=12,
        decimal_places=4,
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
        help_text=_("a day of the site's time zone; empty: no limit"),
    )
    spent = models.DecimalField(
        _("spent"), max_digits=18, decimal_places=8, default=Decimal(0), db_default=Decimal(0)
    )
    short_of = models.DecimalField(
        _("short of"),
        max_digits=18,
        decimal_places=8,
        null=True,
        blank=True,
        editable=False,
        help_text=_("no call is claimed while less than this is left of the budget"),
    )
    spent_on = models.DateField(_("spent on"), null=True, blank=True)
    paused = models.BooleanField(
        _("paused"), default=False, db_default=False, help_text=_("until a person resumes it")
    )
    paused_until = models.DateTimeField(_("paused until"), null=True, blank=True)
    pause_reason = models.TextField(_("reason of the pause"), blank=True, default="", db_default="")
    faults = models.IntegerField(_("faults in a row"), default=0, db_default=0)
    full_at = models.DateTimeField(
        _("all tokens back at"), db_default=Now(), help_text=_("each call moves it by one interval")
    )

    now: datetime  # by with_now()
    running = 0  # how many jobs are processing; set by `limits.find()` if a limit needs it

    objects = ProviderQuerySet.as_manager()

    class Meta:
        db_table = "providers"
        verbose_name = _("provider")
        verbose_name_plural = _("providers")
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [
            models.CheckConstraint(
                name="provider_limits",
                condition=(Q(requests_per_minute=None) | Q(requests_per_minute__gte=1))
                & (Q(max_running=None) | Q(max_running__gte=1))
                & Q(burst__gte=1, timeout__gte=1),
            ),
            models.CheckConstraint(
                name="provider_money",
                condition=Q(price__gte=0, input_price__gte=0, output_price__gte=0)
                & Q(batch_percent__gte=1, batch_percent__lte=100)
                & (Q(daily_budget=None) | Q(daily_budget__gte=0)),
            ),
            models.CheckConstraint(
                name="provider_strategy", condition=Q(strategy__in=Strategy.values)
            ),
            models.CheckConstraint(name="provider_faults", condition=Q(faults__gte=0)),
        ]

    def __str__(self) -> str:
        return self.name

    # Whether it is open

    @property
    def is_paused(self) -> bool:
        return self.paused or (self.paused_until is not None and self.paused_until > self.now)

    @property
    def is_limited(self) -> bool:
        """Whether a claim must count tokens, jobs or money."""
        limits = (self.requests_per_minute, self.max_running, self.daily_budget)
        return self.is_probing or any(limit is not None for limit in limits)

    @property
    def is_probing(self) -> bool:
        """After too many faults in a row, one job at a time tests whether the provider works."""
        return self.faults >= BREAKER_FAULTS

    @property
    def most_running(self) -> int | None:
        return 1 if self.is_probing else self.max_running

    @property
    def is_batched(self) -> bool:
        """Whether its jobs leave their calls for a batch, which takes no token and no money."""
        return self.strategy == Strategy.BATCH and not self.batch_note

    # Tokens (GCRA): each call moves `full_at` by one interval; the bucket holds `burst` of them.

    @property
    def interval(self) -> timedelta:
        rate = self.requests_per_minute
        return timedelta(minutes=1) / rate if rate else NONE

    @property
    def debt(self) -> timedelta:
        """How long until all tokens are back. Capped, because an operator may change the limits."""
        return min(max(self.full_at - self.now, NONE), self.burst * self.interval)

    def tokens(self, ahead: timedelta = NONE) -> float:
        """How many calls may start now, or within the next moment."""
        if not self.interval:
            return math.inf
        owed = max(self.debt - ahead, NONE)
        return math.floor(self.burst - owed / self.interval)

    @property
    def next_token_in(self) -> timedelta:
        return max(self.debt - (self.burst - 1) * self.interval, NONE)

    # Money

    @property
    def today(self) -> date:
        return timezone.localdate(self.now)

    @property
    def booking_day(self) -> date:
        """Only a later day resets the spending: a new time zone or a corrected clock must not."""
        return max(self.spent_on or self.today, self.today)

    @property
    def spent_today(self) -> Decimal:
        return self.spent if self.spent_on == self.booking_day else Decimal(0)

    @property
    def left_today(self) -> Decimal | None:
        """What is left of the budget, at least 0; None: no limit."""
        if self.daily_budget is None:
            return None
        return max(self.daily_budget - self.spent_today, Decimal(0))

    @property
    def lacks_price(self) -> bool:
        """Whether it has a budget but no price, so that the budget would limit nothing."""
        return self.daily_budget is not None and not self.has_price

    @property
    def has_price(self) -> bool:
        return bool(self.price) or self.tokens_cost

    @property
    def tokens_cost(self) -> bool:
        """Whether a call costs more the longer it is, beside its price."""
        return bool(self.input_price or self.output_price)

    @property
    def lacks_budget(self) -> bool:
        """Whether its budget covers no call on any day."""
        budget = self.daily_budget
        return budget is not None and (not budget or budget < self.cost(batch=self.is_batched))

    @property
    def affordable(self) -> float:
        """How many calls today's budget still covers; 0 while the price is not set.

        Where tokens cost, the intent of each call decides. It notes what it was short of.
        Where calls are made in batches, the batch decides: its jobs cost nothing, and those that
        fetch their paid answers must not wait for tomorrow's budget.
        """
        left = self.left_today
        if left is None:
            return math.inf
        if not self.has_price:
            return 0
        if left < (self.short_of or 0):
            return 0
        if self.is_batched:
            return math.inf
        if price := self.cost():
            return int(left // price)
        return math.inf if left else 0

    def cost(
        self, input_tokens: int = 0, output_tokens: int = 0, *, batch: bool = False
    ) -> Decimal:
        """What a call with this many tokens costs, rounded up."""
        tokens = self.input_price * input_tokens + self.output_price * output_tokens
        cost = self.price + tokens / MILLION
        if batch:
            cost = cost * self.batch_percent / 100
        return cost.quantize(SMALLEST, ROUND_UP)
