"""Paid calls: which may start, which were made, and what they cost."""
