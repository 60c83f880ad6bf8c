"""What is logged, and how: the setting LOGGING."""

from typing import Any

from django.core.exceptions import ImproperlyConfigured

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
OURS = ("config", "guides", "jobs")


def logging(level: str, format: str, database: str = "") -> dict[str, Any]:
    """`level` is for our own loggers: Django's DEBUG would log every query with its values."""
    level = level.strip().upper() or "INFO"
    if level not in LEVELS:
        raise ImproperlyConfigured(f"LOG_LEVEL={level}: it must be one of {', '.join(LEVELS)}.")
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "text": {"()": "jobs.worker.logs.TextFormatter"},
            "json": {"()": "jobs.worker.logs.JsonFormatter", "database": database},
        },
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "formatter": "json" if format == "json" else "text",
            },
        },
        "root": {"handlers": ["stderr"], "level": "INFO"},
        "loggers": {
            **{name: {"level": level} for name in OURS},
            "django": {"handlers": []},  # Django's own would log every line twice
            # Its own handler prints what clients send.
            "django.server": {"handlers": [], "propagate": True},
            "httpx2": {"level": "WARNING"},  # the database records the calls
            "opentelemetry.exporter": {"level": "ERROR"},  # one line for each batch it lost
        },
    }
