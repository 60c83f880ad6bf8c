"""Requeueing many picture jobs at once tells all of their spots, and no other."""

import pytest

from guides.models import SpotDetail, SpotImageJob
from jobs import queue
from tests.guides.pages import new_guide

pytestmark = pytest.mark.django_db


def statuses():
    return dict(SpotDetail.objects.values_list("spot_name", "image_status"))


def test_every_spot_waits_for_its_picture_again(django_assert_max_num_queries):
    names = [f"Spot {n}" for n in range(40)]
    new_guide(*names)
    new_guide("Spot 1 of another guide", plan_id="nara")
    queue.cancel(SpotImageJob.objects.all())
    chosen = SpotImageJob.objects.filter(plan_id="kyoto").exclude(spot_name="Spot 39")

    with django_assert_max_num_queries(20):
        queue.requeue(chosen)

    waits = {name for name, status in statuses().items() if status == "processing"}
    assert waits == set(names) - {"Spot 39"}
