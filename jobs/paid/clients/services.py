"""Which services offer batches."""


def has_batches(provider_name: str) -> bool:
    return provider_name.partition(":")[0] in ("gemini", "openai")
