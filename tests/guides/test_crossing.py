"""Two actions at the same time: a spot never loses its job, and no person sees a deadlock."""

import threading
from unittest import mock

import pytest
from django.db import OperationalError, connection, transaction
from django.urls import reverse

from guides import services
from guides.models import Guide, SpotDetail, SpotImageJob
from jobs import queue
from jobs.console import actions
from jobs.models import Status
from tests.jobs.conftest import in_another_thread

pytestmark = pytest.mark.django_db(transaction=True)


def guide(plan_id="kyoto"):
    return Guide.objects.create(plan_id=plan_id, title=plan_id)


def spot_of(guide, name="Gate"):
    return SpotDetail(guide=guide, spot_name=name)


def delete_ended_jobs():
    return actions.carry_out(actions.ACTIONS["remove"], SpotImageJob.objects.all(), "me").changed


def test_a_new_spot_has_its_job_although_an_ended_one_of_that_name_is_deleted_meanwhile():
    kyoto = guide()
    spot_of(kyoto).save()
    SpotDetail.objects.all().delete()
    requeue = queue.requeue
    deleted = []

    def delete_before(jobs, **options):
        if not deleted:
            deleted.append(in_another_thread(delete_ended_jobs))
        return requeue(jobs, **options)

    with mock.patch.object(queue, "requeue", delete_before):
        spot_of(kyoto).save()

    assert deleted == [1]
    assert SpotImageJob.objects.get().status == Status.QUEUED


def test_spots_of_two_guides_saved_at_once_each_get_their_job():
    kyoto, tokyo = guide("kyoto"), guide("tokyo")
    for each in (kyoto, tokyo):
        spot_of(each).save()
    SpotDetail.objects.all().delete()

    SpotDetail.objects.bulk_create([spot_of(kyoto), spot_of(tokyo)])

    assert set(SpotImageJob.objects.values_list("plan_id", "status")) == {
        ("kyoto", Status.QUEUED),
        ("tokyo", Status.QUEUED),
    }


@pytest.mark.postgres
def test_the_form_of_a_guide_that_meets_a_worker_in_the_wrong_order_is_saved(admin_client):
    kyoto = guide()
    services.save_guide(kyoto, [spot_of(kyoto, "A"), spot_of(kyoto, "B")])
    a, b = SpotDetail.objects.order_by("spot_name")
    form = admin_client.get(reverse("admin:guides_guide_change", args=["kyoto"])).context
    save, crossed = SpotDetail.save, threading.Event()

    def save_then_let_the_worker_cross(spot, *arguments, **options):
        save(spot, *arguments, **options)
        if not crossed.is_set():
            crossed.set()
            met.wait(60)

    met = threading.Event()

    def worker():
        """Locks the second spot, then wants the first, which the form has locked."""
        with transaction.atomic():
            SpotDetail.objects.filter(pk=b.pk).update(blur="worker")
            crossed.wait(60)
            met.set()
            SpotDetail.objects.filter(pk=a.pk).update(blur="worker")
        connection.close()

    thread = threading.Thread(target=lambda: swallow(worker))
    thread.start()
    with mock.patch.object(SpotDetail, "save", save_then_let_the_worker_cross):
        data = filled(form, description="new words")
        answer = admin_client.post(reverse("admin:guides_guide_change", args=["kyoto"]), data)
    thread.join()

    assert answer.status_code == 302, answer.context["errors"]
    assert set(SpotDetail.objects.values_list("description", flat=True)) == {"new words"}


def swallow(act):
    """Ignore the error if the database ends the worker's transaction to resolve the deadlock."""
    try:
        act()
    except OperationalError:
        connection.close()


def filled(context, **spots):
    """The form data that a browser would send, with new words in every spot."""
    data = dict(context["adminform"].form.initial)
    formset = context["inline_admin_formsets"][0].formset
    for form in [formset.management_form, *formset.forms]:
        for name in form.fields:
            data[form.add_prefix(name)] = form[name].value()
    for form in formset.initial_forms:
        for name, value in spots.items():
            data[form.add_prefix(name)] = value
    return {name: value for name, value in data.items() if value is not None}
