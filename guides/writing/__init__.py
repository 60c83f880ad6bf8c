"""Guides that models write: an outline first, then one text per spot; people may ask again.

`asking` is the front door: `write_guide`, and what staff ask for again.
"""
