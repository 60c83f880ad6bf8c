"""Guides that a language model writes: first an outline, then a text for each spot."""
