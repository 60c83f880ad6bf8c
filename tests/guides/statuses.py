"""The status of a guide, requested as other programs do."""

from django.db.models.functions import Now

from guides.models import SpotDetail, SpotImageJob

HASH = "ab" * 32
ADDRESS = "/api/guides/kyoto/status/"


def show(name, image_url=f"/pictures/{HASH}/1024.webp"):
    SpotDetail.objects.filter(spot_name=name).update(image_url=image_url, image_status="succeeded")
    SpotImageJob.objects.filter(spot_name=name).update(status="succeeded", finished_at=Now())
