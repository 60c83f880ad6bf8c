"""Spot and job move together: another connection never sees one without the other."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from guides.models import SpotDetail, SpotImage, SpotImageJob
from jobs import queue
from jobs.errors import LeaseLost, PermanentError, Snooze
from jobs.queue import outcomes
from jobs.worker.loop import Loop
from jobs.worker.options import Options
from tests.guides.conftest import save_guide
from tests.guides.painting import claim, give_up, paint
from tests.jobs.conftest import expire_lease, in_another_thread, make_due

pytestmark = pytest.mark.django_db(transaction=True)


def seen():
    """What another connection sees: the job's status and the spot's."""

    def look():
        return SpotImageJob.objects.get().status, SpotDetail.objects.get().image_status

    return in_another_thread(look)


def end(error):
    [job] = claim(["Kinkaku-ji"])
    queue.settle([outcomes.from_error(job, error)])


def test_from_the_first_claim_to_the_picture(spot, pictures):
    assert seen() == ("queued", "not_started")
    claim(["Kinkaku-ji"])
    assert seen() == ("processing", "processing")
    paint("Kinkaku-ji")
    assert seen() == ("succeeded", "succeeded")


@pytest.mark.parametrize("error", [ValueError("again"), Snooze(60), LeaseLost("stopping")])
def test_queued_again_is_still_processing_to_a_visitor(spot, error):
    end(error)

    assert seen() == ("queued", "processing")


def test_a_rescued_job_is_still_processing_to_a_visitor(spot):
    [job] = claim(["Kinkaku-ji"])
    expire_lease(job)
    queue.rescue(SpotImageJob)

    assert seen() == ("queued", "processing")


def test_failed_and_requeued(spot):
    end(PermanentError("no blue left"))
    assert seen() == ("failed", "failed")

    queue.requeue(SpotImageJob.objects.all())
    assert seen() == ("queued", "processing")


def test_canceled_without_a_picture(spot):
    claim(["Kinkaku-ji"])
    queue.cancel(SpotImageJob.objects.all())

    assert seen() == ("canceled", "not_started")


def test_canceled_with_a_picture(spot, pictures):
    paint("Kinkaku-ji")
    queue.requeue(SpotImageJob.objects.all())
    queue.cancel(SpotImageJob.objects.all())

    assert seen() == ("canceled", "succeeded")
    assert SpotDetail.objects.get().picture_state == "ready"


def test_many_move_at_once_each_as_its_own_picture_says(spot):
    save_guide("Gate", "Pond", "Hill", plan_id="nara")
    SpotDetail.objects.filter(spot_name="Pond").update(image_url="/pictures/pond.webp")
    jobs = SpotImageJob.objects.filter(plan_id="nara")

    with CaptureQueriesContext(connection) as sent:
        queue.cancel(jobs)
    assert states() == {"Gate": "not_started", "Pond": "succeeded", "Hill": "not_started"}
    assert sum('UPDATE "spot_details"' in each["sql"] for each in sent) == 1

    queue.requeue(jobs)
    assert set(states().values()) == {"processing"}
    assert SpotDetail.objects.get(id=spot.id).image_status == "not_started"


def states():
    spots = SpotDetail.objects.filter(guide_id="nara")
    return dict(spots.values_list("spot_name", "image_status"))


def test_a_spot_that_is_gone_cancels_its_job_with_that_reason(spot):
    SpotDetail.objects.filter(id=spot.id).update(spot_name="Ginkaku-ji")

    assert Loop([SpotImageJob], Options()).run(drain=True) == 0

    job = SpotImageJob.objects.get()
    assert job.status == "canceled"
    assert "'Kinkaku-ji'" in job.last_error


def test_the_same_request_again_makes_no_new_picture(spot, pictures, monkeypatch):
    paint("Kinkaku-ji")
    monkeypatch.setattr("guides.images.from_answer", None)  # would raise if it were called
    queue.requeue(SpotImageJob.objects.all())
    make_due(SpotImageJob.objects.get())

    paint("Kinkaku-ji")

    assert seen() == ("succeeded", "succeeded")
    assert SpotImage.objects.count() == 1


def test_a_new_generation_is_a_new_version_and_the_old_one_stays(spot, pictures):
    paint("Kinkaku-ji")
    queue.requeue(SpotImageJob.objects.all())
    SpotImageJob.objects.update(generation=1)

    paint("Kinkaku-ji")

    versions = SpotImage.objects.order_by("version").values_list("version", "is_current")
    assert list(versions) == [(1, False), (2, True)]


def test_a_failed_new_picture_does_not_take_the_old_one_away(spot, pictures):
    paint("Kinkaku-ji")
    queue.requeue(SpotImageJob.objects.all())
    give_up("Kinkaku-ji")

    assert SpotDetail.objects.get().picture_state == "ready"
