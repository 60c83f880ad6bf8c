"""The seconds said for thirty pictures are about those that a simulated queue takes."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now

from guides.models import SpotImageJob
from guides.status import GuideStatus
from jobs import queue
from jobs.models import Provider, Worker
from jobs.paid import limits
from tests.guides.conftest import save_guide
from tests.guides.history import have_worker
from tests.guides.painting import claim
from tests.guides.shop import Shop
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db


def save_thirty(plan_id="kyoto"):
    save_guide(*(f"Spot {n}" for n in range(30)), plan_id=plan_id)


def about(seconds):
    return pytest.approx(seconds, rel=0.12)


@pytest.mark.parametrize(
    ("shop", "limit"),
    [
        (Shop(), {}),
        (Shop(slots=30), {}),
        (Shop(slots=7, work=3), {}),
        (Shop(slots=3), {"max_running": 3}),
        (Shop(rate=30), {"requests_per_minute": 30}),
        (Shop(rate=60, burst=1, work=20), {"requests_per_minute": 60, "burst": 1}),
        (Shop(rate=15, work=20), {"requests_per_minute": 15}),
        (Shop(fails=6), {}),
        (Shop(cores=2, work=2), {}),
    ],
    ids=str,
)
def test_thirty_pictures_take_as_long_as_is_said(shop, limit):
    shop.remember(24, ago=600)
    limits.find("painter")
    Provider.objects.update(**limit)
    have_worker(slots=8 if limit else shop.slots)
    save_thirty()

    assert GuideStatus("kyoto").seconds == about(shop.seconds_for(30))


def test_pictures_made_alone_say_nothing_of_many_at_once():
    """On two cores eight pictures at once take longer each: 41 s were said, and 66 s taken."""
    shop = Shop(cores=2, work=4.4)
    shop.remember(16, ago=5000)
    for n in range(20):
        shop.remember(1, ago=3000 - 20 * n)
    have_worker(slots=8)
    save_thirty()

    assert shop.seconds_for(30) == pytest.approx(66, abs=1)
    assert GuideStatus("kyoto").seconds == about(66)


def test_many_at_once_say_nothing_of_a_picture_made_alone():
    shop = Shop(cores=2, work=4)
    shop.remember(16, ago=5000)
    for n in range(8):
        shop.remember(1, ago=3000 - 20 * n)
    have_worker(slots=8)
    save_guide("Gate")

    assert GuideStatus("kyoto").seconds == about(4)


def test_pictures_in_progress_free_their_slots_when_they_are_done():
    shop = Shop()
    shop.remember(24, ago=600)
    have_worker(slots=8, running=0)  # as its last beat said, before it claimed
    save_thirty()
    first = queue.claim(SpotImageJob, 8, "w", timedelta(minutes=1))
    SpotImageJob.objects.with_ids([job.id for job in first]).update(
        locked_at=Now() - timedelta(seconds=5)
    )

    assert GuideStatus("kyoto").seconds == about(shop.seconds_for(30, half_done=8))


def test_pictures_that_are_late_say_that_the_next_ones_will_be():
    Shop().remember(24, ago=600)
    have_worker(slots=8)
    save_thirty()
    first = queue.claim(SpotImageJob, 8, "w", timedelta(minutes=1))
    running = SpotImageJob.objects.with_ids([job.id for job in first])

    def seconds_after(elapsed):
        running.update(locked_at=Now() - timedelta(seconds=elapsed))
        return GuideStatus("kyoto").seconds

    assert seconds_after(18) > seconds_after(9) + 10


def test_slots_that_are_free_since_the_last_beat_are_free():
    shop = Shop()
    shop.remember(24, ago=600)
    have_worker(slots=8, running=8)
    save_thirty()

    assert GuideStatus("kyoto").seconds == about(shop.seconds_for(30))


def test_a_worker_that_missed_two_beats_makes_no_pictures():
    shop = Shop()
    shop.remember(24, ago=600)
    have_worker(slots=8)
    have_worker(slots=24, name="killed")
    missed = {"last_beat_at": Now() - timedelta(seconds=35)}
    missed["lease_expires_at"] = Now() + timedelta(seconds=25)
    Worker.objects.filter(name="killed").update(**missed)
    save_thirty()

    assert GuideStatus("kyoto").seconds == about(shop.seconds_for(30))


def test_slots_that_hold_other_jobs_make_no_pictures():
    Shop().remember(24, ago=600)
    have_worker(slots=8)
    queue.enqueue([Chore(name=str(n)) for n in range(5)])
    queue.claim(Chore, 5, "w", timedelta(minutes=1))
    save_thirty()

    assert GuideStatus("kyoto").seconds == about(Shop(slots=3).seconds_for(30))


def test_jobs_of_other_guides_are_made_first():
    shop = Shop()
    shop.remember(24, ago=600)
    have_worker(slots=8)
    save_thirty("other")
    save_thirty()

    assert GuideStatus("kyoto").seconds == about(shop.seconds_for(60))


def test_a_stopping_workers_slots_are_not_counted_though_its_pictures_go_on():
    Shop(work=1000.0).remember(24, ago=6000)
    have_worker(slots=8)
    have_worker(slots=8, name="tester", draining=True)
    save_guide("Gate")
    claim(["Gate"])

    assert 900 < GuideStatus("kyoto").seconds <= 1000  # it shrinks while the test runs
