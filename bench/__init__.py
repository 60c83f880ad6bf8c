"""How fast Tabie's queue is, beside others on the same PostgreSQL: `make bench`."""
