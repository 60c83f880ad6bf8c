"""The settings of `jobs`, each with its default: a project sets only what it wants otherwise.

Read them from here and not from `django.conf`; settings of Django's own come through.
docs/settings.md explains each.
"""

from decimal import Decimal
from typing import Any

from django.conf import settings

DEFAULTS: dict[str, Any] = {
    # Paid calls
    "CURRENCY": "USD",
    "DEFAULT_DAILY_BUDGET": Decimal(5),
    "UNKNOWN_REPEATS": 2,
    "KEEP_ANSWER_SECONDS": 600.0,
    "BATCH_COLLECT_SECONDS": 10.0,
    "BATCH_MOST_CALLS": 5_000,
    "BATCH_MOST_BYTES": 50_000_000,
    # Services, and the language models that write
    "GEMINI_API_KEY": "",
    "GEMINI_BASE_URL": "",
    "GEMINI_TEXT_MODEL": "gemini-3.8-flash",
    "OPENAI_API_KEY": "",
    "OPENAI_BASE_URL": "",
    "OPENAI_TEXT_MODEL": "gpt-5.4-mini",
    "LLM_PROVIDER": "",
    "LLM_BULK_STRATEGY": "sync",
    # Operators
    "WAITING_TOO_LONG_MINUTES": 60.0,
    "ALERT_WEBHOOK_URL": "",
    "ALERT_WEBHOOK_SECRET": "",
    "ALERT_EMAILS": (),
    "SITE_URL": "",
    # Retention, in days after the end; 0: kept for ever
    "LOG_RETENTION_DAYS_DB": 30,
    "ANSWER_RETENTION_DAYS": 90,
    "EVENT_RETENTION_DAYS": 30,
    "LLM_RETENTION_DAYS": 30,
}


def __getattr__(name: str) -> Any:
    """What the project has set, else the default."""
    if name in DEFAULTS:
        return getattr(settings, name, DEFAULTS[name])
    if not name.isupper():  # Python itself asks, for `__path__`, while the settings are being read
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(settings, name)
