"""Topics: what guides have in common by the tags of their spots, summed up by a language model.

A topic is a tag, whatever the case of its ASCII letters. Which topics there are, and their guides
and spots, is read from the tags themselves; only the summaries are tables.
"""

from guides.topics.finding import Topic, most_used

__all__ = ["Topic", "most_used"]
