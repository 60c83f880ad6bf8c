"""The tables of topics: their summaries, and the jobs that ask for them and keep them."""

from guides.topics.asking import RefreshTopic
from guides.topics.keeping import KeepTopic
from guides.topics.summaries import TopicSummary

__all__ = ["KeepTopic", "RefreshTopic", "TopicSummary"]
