"""The clients of paid services, built once per process from the settings."""

from jobs.paid.clients.batch import BatchClient


def split(provider: str) -> tuple[str, str]:
    service, _, model = provider.partition(":")
    return service, model


def has_batches(provider: str) -> bool:
    return False


def batch_client(provider: str) -> BatchClient | None:
    return None
