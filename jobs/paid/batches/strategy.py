"""Whether a provider's calls are made in batches."""

from jobs.models import Provider, Strategy
from jobs.paid.clients import services


def takes_batches(provider: Provider, strategy: str = "") -> bool:
    """By the job's own strategy, or else by the provider's; and only where batches exist."""
    wanted = (strategy or provider.strategy) == Strategy.BATCH
    return wanted and offers_batches(provider)


def offers_batches(provider: Provider) -> bool:
    return not provider.batch_note and services.has_batches(provider.name)
