"""What an action of `manage.py jobs` did, or would do, and what that costs."""

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django.db.models import QuerySet

from jobs import settings
from jobs.console import actions, audit, counting
from jobs.console.counting import Number
from jobs.paid import money


@dataclass
class Account:
    action: actions.Action
    dry_run: bool
    changed: int = 0
    foreseen: Number = field(default_factory=lambda: Number(0))
    left: Number = field(default_factory=lambda: Number(0))
    cost: Decimal = Decimal(0)
    is_priced: bool = True
    tokens_cost: bool = False
    budgets: dict[str, Decimal] = field(default_factory=dict)  # what is left today, per provider
    refusals: list[str] = field(default_factory=list)

    def foresee(self, preview: actions.Preview) -> None:
        """Add what the action will do to the jobs of one kind."""
        self.foreseen += preview.changed
        self.left += sum(int(number) for _, number in preview.left_alone)
        self.cost += preview.cost or 0
        if preview.refused and any(preview.numbers[status] for status in self.action.origins):
            self.refusals.append(str(preview.refused))
        if preview.changed and preview.provider and not preview.is_free:
            self.is_priced &= preview.has_price
            self.tokens_cost |= preview.tokens_cost
            if preview.left_today is not None:
                self.budgets[preview.provider] = preview.left_today

    @property
    def told(self) -> int:
        return self.foreseen if self.dry_run else self.changed

    @property
    def known_cost(self) -> str | None:
        """Unknown for more than 10,000 jobs, or if a provider has no price."""
        return f"{self.cost:.2f}" if self.is_priced and self.foreseen.is_exact else None

    def data(self) -> dict[str, Any]:
        return {
            "action": self.action.name,
            "changed": _counted(self.told),
            "left_alone": _counted(self.left),
            "dry_run": self.dry_run,
            "exact": self.foreseen.is_exact and self.left.is_exact,
            "cost_about": self.known_cost,
            "plus_tokens": self.tokens_cost,
            "currency": settings.CURRENCY,
            "left_today": {name: f"{left:.2f}" for name, left in self.budgets.items()},
        }

    def lines(self) -> list[str]:
        verb = "would change" if self.dry_run else "changed"
        did = f"{self.action.name}: {verb} {self.told}, left alone {self.left}, {self._price()}"
        return [did, *self.refusals]

    def _price(self) -> str:
        known = f"cost about {money.shown(self.cost)}"
        price = "cost not known" if self.known_cost is None else known
        price += " plus tokens" if self.tokens_cost else ""
        left = self.budgets.items()
        return price + "".join(f", {name} has {money.shown(n)} left today" for name, n in left)


def _counted(number: int) -> int:
    """Cap an estimated number at 10,000; the number of changed jobs is always exact."""
    return min(number, counting.MANY) if isinstance(number, Number) else number


def carry_out(action: actions.Action, jobs: QuerySet[Any], by: object) -> int:
    """Act on all of these jobs, without a time limit; returns how many changed."""
    result = actions.carry_out(action, jobs, by)
    changed = result.changed
    while result.last:
        result = actions.carry_out(action, jobs, by, result.last)
        changed += result.changed
    if changed > 1:
        audit.note_many(by, jobs.model, changed, action.logged)
    return changed
