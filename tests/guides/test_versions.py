"""Every picture a spot ever had stays; a person asks for another, or for an older one."""

from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

import pytest
from django.utils import timezone

from guides import services
from guides.models import SpotDetail, SpotImage, SpotImageJob
from jobs.models import Call, Provider
from jobs.paid import calls
from tests.guides.painting import claim, paint

pytestmark = pytest.mark.django_db


@pytest.fixture
def painted(spot, pictures):
    Provider.objects.create(name="painter", requests_per_minute=None, price=Decimal("0.04"))
    paint("Kinkaku-ji")
    return spot


def ask_for_another():
    return services.request_new_pictures(SpotImageJob.objects.all(), by="mika")


def current():
    return SpotImage.objects.get(is_current=True)


def test_another_picture_is_another_version_that_knows_who_asked(painted):
    assert ask_for_another() == (1, 0)
    paint("Kinkaku-ji")

    assert (current().version, current().asked_by) == (2, "mika")


def test_another_picture_looks_different_and_is_paid_again(painted):
    first = current().object_name
    ask_for_another()
    paint("Kinkaku-ji")

    assert current().object_name != first
    assert Call.objects.count() == 2
    assert current().cost == Decimal("0.04")


def test_the_old_picture_stays_on_the_page_until_the_new_one_comes(painted):
    ask_for_another()

    spot = SpotDetail.objects.get()
    assert (spot.picture_state, spot.image_status) == ("ready", "processing")


def test_asking_twice_asks_once(painted):
    ask_for_another()

    assert ask_for_another() == (0, 1)
    assert SpotImageJob.objects.get().generation == 1


def test_an_older_version_can_be_put_back(painted):
    before = SpotDetail.objects.get().image_url
    ask_for_another()
    paint("Kinkaku-ji")

    services.use_version(SpotImage.objects.get(version=1))

    assert SpotDetail.objects.get().image_url == before
    assert current().version == 1
    assert SpotImage.objects.count() == 2


def test_putting_one_back_while_another_is_on_its_way_keeps_waiting_for_it(painted):
    ask_for_another()
    claim(["Kinkaku-ji"])

    services.use_version(current())

    assert SpotDetail.objects.get().image_status == "processing"


def test_a_version_tells_what_it_cost_and_how_long_it_took(painted):
    call = Call.objects.get()

    assert current().seconds == pytest.approx(call.seconds)
    assert current().seconds > 0
    assert current().cost == call.cost


def test_the_hours_in_a_batch_are_not_the_time_of_a_picture(spot, pictures, monkeypatch):
    buy = calls.buy

    def buy_by_batch(*args, **more):
        bought = buy(*args, **more)
        bought.call.batch_id, bought.call.started_at = uuid4(), timezone.now() - timedelta(hours=9)
        return bought

    monkeypatch.setattr(calls, "buy", buy_by_batch)

    paint("Kinkaku-ji")

    assert current().seconds == 0


def test_a_version_gets_a_number_of_its_own_though_another_was_deleted(painted):
    for _ in range(2):
        ask_for_another()
        paint("Kinkaku-ji")
    SpotImage.objects.filter(version=1).delete()

    ask_for_another()
    paint("Kinkaku-ji")

    assert current().version == 4
