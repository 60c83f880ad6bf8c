"""Requests to language models: `from jobs import llm; llm.submit(...)`."""

from jobs.llm.consumption import cancel, consume, progress, results
from jobs.llm.requests import InvalidRequest
from jobs.llm.submission import submit

__all__ = ["InvalidRequest", "cancel", "consume", "progress", "results", "submit"]
