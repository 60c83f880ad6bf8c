"""Operators see withdrawn guides, and put them back."""

import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse

from guides.models import Guide, SpotImageJob
from jobs.models import Status
from tests.guides.conftest import save_guide
from tests.guides.withdrawing import is_withdrawn, withdraw

pytestmark = pytest.mark.django_db

LIST = reverse("admin:guides_guide_changelist")


def publish(client, *plan_ids):
    data = {"action": "publish", "_selected_action": plan_ids}
    return client.post(LIST, data, follow=True)


def test_a_withdrawn_guide_is_in_the_list_with_its_date(operator):
    save_guide("Gate")
    withdraw()

    page = operator.get(LIST).text

    assert "Withdrawn since" in page
    assert Guide.objects.get().withdrawn_at.strftime("%Y") in page
    own_page = operator.get(reverse("admin:guides_guide_change", args=["kyoto"])).text
    assert "Withdrawn since" in own_page


def test_an_operator_puts_a_guide_back_and_its_pictures_are_asked_for_again(operator, client):
    save_guide("Gate", "Pond")
    save_guide("Deer", plan_id="nara")
    withdraw()

    page = publish(operator, "kyoto", "nara").text

    assert not is_withdrawn()
    assert set(SpotImageJob.objects.values_list("status", flat=True)) == {Status.QUEUED}
    assert "Guides published again: 1." in page
    assert "Missing pictures that were asked for again: 2." in page
    assert "Not changed, because they were not withdrawn: 1." in page
    assert client.get("/guides/kyoto/").status_code == 200
    [entry] = LogEntry.objects.all()
    assert (entry.object_id, entry.change_message) == ("kyoto", "Published again.")


def test_a_viewer_puts_nothing_back(viewer):
    save_guide("Gate")
    withdraw()

    publish(viewer, "kyoto")

    assert is_withdrawn()


def test_very_many_are_put_back_in_pieces(operator, monkeypatch):
    monkeypatch.setattr("guides.services.MOST_PUBLISHED", 1)
    for plan_id in ("kyoto", "nara"):
        save_guide("Gate", plan_id=plan_id)
        withdraw(plan_id)

    page = publish(operator, "kyoto", "nara").text

    assert "Only the first 1 at once. Do it again for the rest." in page
    assert (is_withdrawn("kyoto"), is_withdrawn("nara")) == (False, True)
