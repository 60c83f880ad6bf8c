"""Guides, their spots, the pictures the spots have had, and the jobs that make them."""

from guides.models.guide import Guide
from guides.models.image import SpotImage
from guides.models.job import ImageStatus, SpotImageJob, show_picture
from guides.models.spot import PAINTED, SpotDetail, enqueue_missing

__all__ = [
    "PAINTED",
    "Guide",
    "ImageStatus",
    "SpotDetail",
    "SpotImage",
    "SpotImageJob",
    "enqueue_missing",
    "show_picture",
]
