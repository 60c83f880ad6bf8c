"""Guides, their spots, the pictures the spots have had, and the jobs that make them."""

from guides.models.image import SpotImage
from guides.models.spot import (
    PAINTED,
    Guide,
    ImageStatus,
    SpotDetail,
    SpotImageJob,
    enqueue_missing,
)

__all__ = [
    "PAINTED",
    "Guide",
    "ImageStatus",
    "SpotDetail",
    "SpotImage",
    "SpotImageJob",
    "enqueue_missing",
]
