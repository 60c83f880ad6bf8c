"""Paid calls: who may buy, what was bought, and what it cost."""
