"""The states of a job."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class Status(models.TextChoices):
    """Where a job is in its life; `queue.MOVES` says where it can go from there."""

    QUEUED = "queued", _("queued")  # waits until run_after, then for a worker
    PROCESSING = "processing", _("processing")  # held by one worker until its lease ends
    SUCCEEDED = "succeeded", _("succeeded")
    FAILED = "failed", _("failed")  # has given up: attempts, patience or interruptions ran out
    CANCELED = "canceled", _("canceled")  # by a person, or by the job itself


ENDED = (Status.SUCCEEDED, Status.FAILED, Status.CANCELED)
OPEN = (Status.QUEUED, Status.PROCESSING)
