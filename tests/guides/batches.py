"""Jobs whose calls wait for a batch, as `calls.buy` leaves them."""

import uuid
from datetime import timedelta

from django.db.models.functions import Now

from guides.models import SpotDetail, SpotImageJob
from jobs.models import Call


def put_into_batch(*names, ago=timedelta(0), **facts):
    """Leave a waiting call for each of these spots, and let its job wait for a day."""
    for job in SpotImageJob.objects.filter(spot_name__in=names):
        Call.objects.create(
            **{"state": "waiting"} | facts,
            provider=SpotImageJob.provider_name(),
            job_id=job.id,
            kind="guides.SpotImageJob",
            epoch=1,
            worker="w",
            key=uuid.uuid4().hex,
            number=1,
            payload_hash="",
            answer_name="",
            deadline=Now(),
            started_at=Now() - ago,
        )
    jobs = SpotImageJob.objects.filter(spot_name__in=names)
    jobs.update(run_after=Now() + timedelta(hours=26), epoch=1)
    SpotDetail.objects.filter(spot_name__in=names).update(image_status="processing")
