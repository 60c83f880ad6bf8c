"""What an estimate is made of: pictures of the past, and a worker."""

import uuid
from datetime import timedelta

from django.db.models.functions import Now

from jobs.models import Attempt, Worker


def remember(count, seconds=10, ago=timedelta(0), **facts):
    """So many pictures were made lately, each in so many seconds."""
    for _ in range(count):
        Attempt.objects.create(
            **{"kind": "guides.SpotImageJob", "outcome": "succeeded", "worker": "w"} | facts,
            job_id=uuid.uuid4(),
            epoch=1,
            started_at=Now() - ago - timedelta(seconds=seconds),
            ended_at=Now() - ago,
        )


def have_worker(slots=2, running=0, lease=60, **facts):
    expiry = Now() + timedelta(seconds=lease)
    Worker.objects.create(
        name="w", slots=slots, running=running, lease_expires_at=expiry, version="1", **facts
    )
