"""What one PostgreSQL carries, and what grows with what."""

from bench.scale import place  # noqa: F401 (sets Django up, before anything imports models)
