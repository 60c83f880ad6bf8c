"""Every way of saving a spot enqueues its job in the same transaction."""

import pytest
from django.db import connection, transaction
from django.urls import reverse

from guides import services
from guides.models import Guide, ImageStatus, SpotDetail, SpotImageJob
from jobs import queue
from jobs.models import Status
from jobs.queue import wakeup
from tests.guides.conftest import save_guide
from tests.guides.painting import claim, give_up, paint

pytestmark = pytest.mark.django_db(transaction=True)


def jobs():
    return list(SpotImageJob.objects.order_by("spot_name").values_list("plan_id", "spot_name"))


@pytest.mark.parametrize("many", [0, 1, 3, 5, 7, 10, 500])
def test_a_saved_guide_has_a_job_for_each_of_its_spots(many):
    save_guide(*[f"spot {number:03}" for number in range(many)])

    assert jobs() == [("kyoto", f"spot {number:03}") for number in range(many)]


def test_a_spot_saved_in_a_shell_has_its_job(guide):
    SpotDetail(guide=guide, spot_name="Gate").save()

    assert jobs() == [("kyoto", "Gate")]


def test_a_spot_made_by_the_manager_has_its_job(guide):
    SpotDetail.objects.create(guide=guide, spot_name="Gate")
    guide.spots.get_or_create(spot_name="Pond")

    assert jobs() == [("kyoto", "Gate"), ("kyoto", "Pond")]


def test_spots_made_in_bulk_have_their_jobs(guide):
    SpotDetail.objects.bulk_create([SpotDetail(guide=guide, spot_name=name) for name in "ab"])

    assert jobs() == [("kyoto", "a"), ("kyoto", "b")]


def test_a_spot_added_in_the_admin_has_its_job(admin_client, guide):
    data = {
        "title": "Kyoto",
        "spots-TOTAL_FORMS": 1,
        "spots-INITIAL_FORMS": 0,
        "spots-0-position": 1,
        "spots-0-spot_name": "Gate",
        "spots-0-topic_tags": '["shrine"]',
    }
    page = admin_client.post(reverse("admin:guides_guide_change", args=["kyoto"]), data)

    assert page.status_code == 302
    assert jobs() == [("kyoto", "Gate")]


def test_a_guide_that_is_not_saved_leaves_no_job():
    with transaction.atomic():
        save_guide("Gate")
        transaction.set_rollback(True)

    assert jobs() == []


def test_saving_ten_spots_adds_at_most_two_queries_for_the_queue():
    spots = [SpotDetail(spot_name=str(number)) for number in range(10)]
    guide = Guide(plan_id="kyoto", title="Kyoto")
    with connection.execute_wrapper(lambda run, *query: (seen.append(query[0]), run(*query))[1]):
        seen = []
        services.save_guide(guide, spots)

    queries = [query for query in seen if "spot_image_jobs" in query or "NOTIFY" in query]
    assert 1 <= len(queries) <= 2


def test_no_fault_of_the_wake_up_fails_the_saving(monkeypatch):
    def fail():
        raise RuntimeError("nobody listens")

    monkeypatch.setattr(wakeup, "_notify", fail)

    save_guide("Gate")

    assert SpotDetail.objects.count() == 1


def test_no_fault_of_the_provider_fails_the_saving(settings):
    settings.IMAGE_PROVIDER = "nobody"

    save_guide("Gate")

    assert len(jobs()) == 1


def test_a_spot_that_has_its_picture_gets_no_job(guide):
    SpotDetail.objects.create(guide=guide, spot_name="Gate", image_url="https://example.org/a.jpg")

    assert jobs() == []


def test_a_succeeded_spot_is_not_asked_for_again(guide):
    succeeded = SpotDetail(guide=guide, spot_name="Gate", image_status=ImageStatus.SUCCEEDED)

    assert services.request_images([succeeded]) == 0


def test_asking_again_meets_the_job_that_exists(spot):
    assert services.request_images(SpotDetail.objects.all()) == 0
    assert len(jobs()) == 1


def test_saving_does_not_requeue_an_ended_job(spot):
    give_up("Kinkaku-ji")

    SpotDetail.objects.get().save()

    assert SpotImageJob.objects.get().status == Status.FAILED


def test_clearing_the_picture_shows_the_neutral_state_until_somebody_asks(spot, pictures):
    paint("Kinkaku-ji")
    spot = SpotDetail.objects.get()

    spot.image_url = ""
    spot.save()

    spot = SpotDetail.objects.get()
    assert (spot.image_status, spot.picture_state) == (ImageStatus.NOT_STARTED, "none")
    assert SpotImageJob.objects.get().status == Status.SUCCEEDED
    queue.requeue(SpotImageJob.objects.all())
    assert SpotDetail.objects.get().picture_state == "loading"


def test_an_old_copy_that_is_saved_does_not_take_the_picture_away(spot, pictures):
    old = SpotDetail.objects.get()
    paint("Kinkaku-ji")

    old.description = "golden"
    old.save()

    spot = SpotDetail.objects.get()
    assert (spot.picture_state, spot.description) == ("ready", "golden")


def test_a_rename_by_an_old_copy_takes_the_picture_of_the_other_place_away(spot, pictures):
    old = SpotDetail.objects.get()
    paint("Kinkaku-ji")

    old.spot_name = "Ginkaku-ji"
    old.save()

    spot = SpotDetail.objects.get()
    assert (spot.image_url, spot.picture_state) == ("", "loading")
    assert not spot.images.filter(is_current=True).exists()


def test_renaming_cancels_the_job_of_the_old_name(spot):
    claim(["Kinkaku-ji"])
    spot = SpotDetail.objects.get()

    spot.spot_name = "Ginkaku-ji"
    spot.save()

    job = SpotImageJob.objects.get(spot_name="Kinkaku-ji")
    assert (job.status, job.last_error) == (Status.CANCELED, "Its spot was renamed.")


def test_a_spot_moved_to_another_guide_is_a_new_spot_there(spot):
    claim(["Kinkaku-ji"])
    spot = SpotDetail.objects.get()

    spot.guide = Guide.objects.create(plan_id="nara", title="Nara")
    spot.save()

    assert SpotImageJob.objects.get(plan_id="nara").status == Status.QUEUED
    assert SpotDetail.objects.get().image_status == ImageStatus.NOT_STARTED


def test_a_spot_that_is_made_again_is_painted_again(spot, pictures):
    paint("Kinkaku-ji")
    spot.delete()

    SpotDetail.objects.create(guide=spot.guide, spot_name="Kinkaku-ji")

    assert SpotImageJob.objects.get().status == Status.QUEUED
    assert SpotDetail.objects.get().picture_state == "loading"


def test_a_refreshed_copy_can_clear_the_picture(spot, pictures):
    paint("Kinkaku-ji")
    spot.refresh_from_db()

    spot.image_url = ""
    spot.save(update_fields=["image_url"])

    assert SpotDetail.objects.get().image_status == ImageStatus.NOT_STARTED


def test_a_copy_that_was_loaded_in_part_keeps_the_picture(spot, pictures):
    paint("Kinkaku-ji")
    part = SpotDetail.objects.only("description").get()

    part.description = "golden"
    part.save()

    assert SpotDetail.objects.get().picture_state == "ready"


def test_refreshing_one_column_does_not_forget_what_was_changed_in_another(spot, pictures):
    paint("Kinkaku-ji")
    spot = SpotDetail.objects.get()
    spot.image_url = ""

    spot.refresh_from_db(fields=["description"])
    spot.save()

    assert SpotDetail.objects.get().image_url == ""


def test_only_a_job_makes_a_spot_processing(guide):
    SpotDetail.objects.create(guide=guide, spot_name="Gate", image_status="processing")

    assert SpotDetail.objects.get().image_status == ImageStatus.NOT_STARTED
    assert len(jobs()) == 1


def test_names_are_trimmed(guide):
    SpotDetail.objects.create(guide=guide, spot_name=" Gate ")

    assert jobs() == [("kyoto", "Gate")]


def test_a_renamed_spot_is_a_new_spot(spot, pictures):
    paint("Kinkaku-ji")
    spot = SpotDetail.objects.get()

    spot.spot_name = "Ginkaku-ji"
    spot.save()

    assert jobs() == [("kyoto", "Ginkaku-ji"), ("kyoto", "Kinkaku-ji")]
    assert SpotDetail.objects.get().picture_state == "loading"


@pytest.mark.parametrize("delete", [lambda spot: spot.delete(), lambda spot: spot.guide.delete()])
def test_a_deleted_spot_or_guide_cancels_its_jobs(spot, delete):
    delete(spot)

    job = SpotImageJob.objects.get()
    assert (job.status, job.last_error) == (Status.CANCELED, "Its spot was deleted.")


def test_deleting_a_large_guide_needs_few_queries(django_assert_max_num_queries):
    guide = save_guide(*[str(number) for number in range(50)])

    with django_assert_max_num_queries(60 + 25):  # on_cancel makes a query per spot
        guide.delete()

    assert set(SpotImageJob.objects.values_list("status", flat=True)) == {Status.CANCELED}
