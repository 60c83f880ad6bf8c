"""What an estimate needs: past pictures and a worker."""

import uuid
from datetime import timedelta

from django.db.models.functions import Now

from jobs.models import Attempt, Worker


def remember(count, seconds=10, ago=timedelta(0), **facts):
    """Record `count` recent pictures that took `seconds` each."""
    for _ in range(count):
        Attempt.objects.create(
            **{"kind": "guides.SpotImageJob", "outcome": "succeeded", "worker": "w"} | facts,
            job_id=uuid.uuid4(),
            epoch=1,
            started_at=Now() - ago - timedelta(seconds=seconds),
            ended_at=Now() - ago,
        )


def have_worker(slots=2, running=0, lease=60, name="w", **facts):
    expiry = Now() + timedelta(seconds=lease)
    Worker.objects.create(
        name=name, slots=slots, running=running, lease_expires_at=expiry, version="1", **facts
    )
