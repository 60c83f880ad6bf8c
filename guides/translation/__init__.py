"""Guides in every language of the site. The original is never overwritten."""
