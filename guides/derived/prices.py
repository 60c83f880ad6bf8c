"""What requests will cost, before they are made."""

from decimal import Decimal
from typing import NamedTuple

from jobs.llm.models import LLMJob
from jobs.models import Provider
from jobs.paid import limits


class Price(NamedTuple):
    """An estimate, at most what is booked. None: the provider's price is not set."""

    amount: Decimal | None
    is_free: bool = False


def of_requests(number: int, *, input_tokens: int, output_tokens: int) -> Price:
    """The price of this many requests of about this size, by the strategy of their provider."""
    name = LLMJob.provider_name()
    if LLMJob.provider_is_free():
        return Price(Decimal(0), is_free=True)
    provider: Provider | None = limits.find(name) if name else None
    if provider is None or not provider.has_price:
        return Price(None)
    return Price(number * provider.cost(input_tokens, output_tokens, batch=provider.is_batched))
