"""Every way of saving a guide records it, in the same transaction."""

import pytest
from django.db import transaction
from django.urls import reverse

from guides import services
from guides.models import Guide, SpotDetail
from jobs.errors import InvalidEvent
from jobs.events.models import EventJob
from jobs.models import Event
from tests.guides.conftest import save_guide
from tests.guides.forms import form
from tests.guides.handover import guide

pytestmark = pytest.mark.django_db


def recorded():
    """What was recorded since the last look."""
    events = Event.objects.order_by("id")
    assert {(event.source, event.kind) for event in events} <= {("tabie", "guide.saved")}
    found = [event.payload for event in events]
    EventJob.objects.all()._raw_delete(EventJob.objects.db)  # what follows has tests of its own
    events.delete()
    return found


CREATED = {"plan_id": "kyoto", "change": "created"}
UPDATED = {"plan_id": "kyoto", "change": "updated"}


def test_a_saved_guide_is_recorded():
    save_guide("Gate")

    assert recorded() == [CREATED]


def test_a_guide_that_is_handed_over_is_recorded_when_it_changes(send):
    send(guide("Gate"))
    created = recorded()
    send(guide("Gate"))
    unchanged = recorded()
    send(guide("Gate", "Pond"))
    updated = recorded()

    assert created == [CREATED]
    assert unchanged == []
    assert updated == [UPDATED]


def test_a_save_that_is_rolled_back_is_not_recorded():
    with transaction.atomic():
        save_guide("Gate")
        transaction.set_rollback(True)

    assert recorded() == []


def test_a_refused_save_is_not_recorded():
    def refuse(pictures):
        raise RuntimeError

    with pytest.raises(RuntimeError):
        services.put_guide(
            Guide(plan_id="kyoto", title="Kyoto"), [SpotDetail(spot_name="Gate")], refuse
        )

    assert recorded() == []


def test_the_admin_s_form_is_recorded_when_it_changes_something(admin_client):
    kyoto = save_guide("Gate")
    recorded()
    address = reverse("admin:guides_guide_change", args=["kyoto"])

    assert admin_client.post(address, form(kyoto)).status_code == 302
    assert recorded() == []
    admin_client.post(address, form(kyoto) | {"title": "Another"})
    assert recorded() == [UPDATED]
    kyoto.refresh_from_db()
    admin_client.post(address, form(kyoto, description="Red."))
    assert recorded() == [UPDATED]


def test_a_new_guide_of_the_admin_is_recorded(admin_client):
    data = {"plan_id": "kyoto", "title": "Kyoto"}
    data |= {"spots-TOTAL_FORMS": 0, "spots-INITIAL_FORMS": 0}

    admin_client.post(reverse("admin:guides_guide_add"), data)

    assert recorded() == [CREATED]


def test_a_guide_made_on_the_site_is_recorded(admin_client):
    admin_client.post("/guides/new/", {"title": "Kyoto", "spots": "Gate"})

    [event] = Event.objects.all()
    made = Guide.objects.get()
    assert event.payload == {"plan_id": made.pk, "change": "created"}


def test_only_the_site_itself_records_it(client, opened):
    body = {"source": "shop", "kind": "guide.saved", "payload": {"plan_id": "kyoto"}}
    headers = {"Authorization": "Bearer a secret"}

    answer = client.post("/api/events/", body, content_type="application/json", headers=headers)

    assert answer.status_code == 404
    assert "guide.saved" not in answer.json()["error"]["text"].partition("The kinds are")[2]
    assert recorded() == []


def test_a_guide_that_can_not_be_recorded_is_not_saved(monkeypatch):
    monkeypatch.setattr(services, "SITE", "")

    with pytest.raises(InvalidEvent):
        save_guide("Gate")

    assert not Guide.objects.exists()
