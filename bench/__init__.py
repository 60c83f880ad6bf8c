"""Measures Tabie's queue beside other queues on the same PostgreSQL: `make bench`."""
