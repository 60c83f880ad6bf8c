"""Jobs whose calls wait for a batch, as `calls.buy` leaves them."""

import uuid
from datetime import timedelta

from django.db.models.functions import Now

from guides.models import Guide, SpotDetail, SpotImageJob
from jobs.models import Call, Provider
from jobs.paid import limits
from tests.guides.conftest import save_guide


def have_provider(settings, **facts):
    """Let pictures come from a provider that offers batches."""
    settings.IMAGE_PROVIDER, settings.GEMINI_MODEL = "gemini", "sketch"
    limits.find("gemini:sketch")
    Provider.objects.update(**{"price": "0.04"} | facts)


def by_batch(*names, **facts):
    """Save a guide whose pictures wait for a batch."""
    save_guide(*names)
    Guide.objects.update(picture_strategy="batch")
    put_into_batch(*names, **facts)


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
