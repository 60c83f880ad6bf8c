"""Money as people read it: one way for every page and command, and which providers cost none."""

from decimal import Decimal

from django.utils.formats import number_format

from jobs import settings
from jobs.models import Provider, used_providers
from jobs.paid import limits

WITHOUT_CENTS = {"JPY", "KRW"}


def shown(amount: Decimal | int) -> str:
    """Two decimals, or up to four where the amount has them: 0.04 USD, 0.0395 USD, 6 JPY."""
    decimals = f"{amount:.4f}".partition(".")[2].rstrip("0")
    fewest = 0 if settings.CURRENCY in WITHOUT_CENTS else 2
    number = number_format(amount, max(fewest, len(decimals)), force_grouping=True)
    return f"{number} {settings.CURRENCY}"


def free_providers() -> set[str]:
    """The providers that cost nothing, also those that no job uses any more.

    Of an unused one only its row tells: without price, budget and rate, as it was made.
    """
    unlimited = {"price": 0, "daily_budget": None, "requests_per_minute": None}
    made_free = set(Provider.objects.filter(**unlimited).values_list("name", flat=True))
    used = used_providers()
    return {name for name in used if limits.is_free(name)} | made_free - used
