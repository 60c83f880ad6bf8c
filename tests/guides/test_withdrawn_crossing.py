"""A withdrawal meets other actions at the same time, or arrives late."""

import threading
import time

import pytest
from django.db import connection, transaction
from django.urls import reverse

from guides.models import Guide, SpotDetail, SpotImageJob
from jobs import queue
from jobs.db import clock
from jobs.events.models import EventJob
from jobs.models import Call, Event, State, Status
from tests.guides.conftest import save_guide
from tests.guides.forms import form, save
from tests.guides.handover import guide
from tests.guides.painting import claim, paint, perform
from tests.guides.withdrawing import handle_events, is_withdrawn, tell_withdrawn, withdraw
from tests.jobs.conftest import in_another_thread
from tests.jobs.databases import a_session_waits
from tests.jobs.events.conftest import SimulatedWorker
from tests.jobs.processes import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def let_the_clock_go_on():
    """SQLite's clock has milliseconds only."""
    before = clock.now()
    while clock.now() <= before:
        time.sleep(0.001)


def test_a_withdrawal_that_is_handled_after_the_guide_came_back_changes_nothing(send):
    send(guide("Gate"))
    tell_withdrawn()
    let_the_clock_go_on()
    send(guide("Gate"))  # unchanged, and yet it says that the guide is to be seen

    handle_events()

    assert not is_withdrawn()
    assert SpotImageJob.objects.get().status == Status.QUEUED


def test_a_repeated_withdrawal_of_a_guide_that_came_back_changes_nothing(send):
    send(guide("Gate"))
    withdraw()
    let_the_clock_go_on()
    send(guide("Gate"))

    queue.requeue(EventJob.objects.all())
    handle_events()

    assert not is_withdrawn()


def test_a_deleted_guide_that_is_made_anew_is_not_withdrawn_by_an_old_event():
    save_guide("Gate")
    tell_withdrawn()
    Guide.objects.all().delete()
    let_the_clock_go_on()
    save_guide("Gate")

    handle_events()

    assert not is_withdrawn()


def test_withdrawn_again_after_it_came_back(send):
    send(guide("Gate"))
    withdraw()
    let_the_clock_go_on()
    send(guide("Gate"))

    withdraw()

    assert is_withdrawn()


def test_a_form_that_was_open_during_the_withdrawal_does_not_undo_it(admin_client):
    kyoto = save_guide("Gate")
    open_form = form(kyoto, description="Red.")
    old_copy = Guide.objects.get()
    withdraw()

    answer = admin_client.post(reverse("admin:guides_guide_change", args=["kyoto"]), open_form)
    old_copy.save()

    assert answer.status_code == 302
    assert is_withdrawn()
    assert SpotDetail.objects.get().description == "Red."


def test_a_spot_added_while_it_is_withdrawn_costs_nothing_until_it_comes_back(send, admin_client):
    send(guide("Gate"))
    withdraw()
    SpotDetail.objects.create(guide_id="kyoto", spot_name="Pond")

    worker = SimulatedWorker("w")
    [job] = worker.claim(SpotImageJob)
    worker.perform(job)

    job.refresh_from_db()
    assert (job.status, job.last_error) == (Status.CANCELED, "Its guide was withdrawn.")
    assert not Call.objects.exists()
    assert save(admin_client, Guide.objects.get(), description="Red.").status_code == 302
    assert is_withdrawn()
    assert send(guide("Gate", "Pond")).json()["pictures_asked_for"] == 2


def test_a_picture_in_flight_is_canceled_and_its_paid_answer_is_used_when_it_comes_back(
    send, pictures
):
    send(guide("Gate"))
    [job] = claim(["Gate"])
    picture = perform(job)  # bought, and not settled yet

    withdraw()

    worker = SimulatedWorker("tester")
    assert len(worker.succeed(job, result=picture)) == 1  # its claim is gone
    assert SpotDetail.objects.get().picture_state == "none"
    assert Call.objects.get().state == State.STORED

    assert send(guide("Gate")).json()["pictures_asked_for"] == 1
    paint("Gate")
    assert SpotDetail.objects.get().picture_state == "ready"
    assert Call.objects.count() == 1


@pytest.mark.postgres
def test_a_withdrawal_waits_for_a_handover_and_then_leaves_the_guide_alone(send):
    send(guide("Gate"))
    tell_withdrawn()
    entered, goes_on = threading.Event(), threading.Event()

    def hand_over_slowly():
        with transaction.atomic():
            send(guide("Gate", "Pond"))
            entered.set()
            goes_on.wait(60)
        connection.close()

    thread = threading.Thread(target=hand_over_slowly)
    thread.start()
    entered.wait(60)
    handling = threading.Thread(target=in_another_thread, args=[handle_events])
    handling.start()
    wait_until(a_session_waits)
    goes_on.set()
    thread.join()
    handling.join()

    assert not is_withdrawn()
    assert Event.objects.unprocessed().count() == 0
    assert set(SpotImageJob.objects.values_list("status", flat=True)) == {Status.QUEUED}
