"""Batches: many calls made together, later and cheaper."""
