"""Requests to language models: `from jobs import llm; llm.submit(...)`."""
