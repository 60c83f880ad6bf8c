"""What people do to guides is noted, and stays when the guide is gone."""

import pytest
from django.contrib.admin.models import ADDITION, LogEntry
from django.urls import reverse

from config.doors.models import ApiToken
from guides.models import Guide
from tests.guides import making
from tests.guides.making import plan_key, type_in

pytestmark = pytest.mark.django_db
staff = making.staff


def noted():
    return list(LogEntry.objects.order_by("pk").values_list("object_repr", "change_message"))


def test_a_guide_made_on_the_site_is_noted_once_however_often_its_form_is_sent(staff):
    key = plan_key(staff)

    type_in(staff, plan_key=key)
    type_in(staff, plan_key=key)

    assert noted() == [("Kyoto", "Made with its pictures.")]
    entry = LogEntry.objects.get()
    assert (entry.user.username, entry.action_flag) == ("author", ADDITION)
    assert entry.object_id == Guide.objects.get().pk


def test_the_same_form_with_other_words_is_noted_as_a_change(staff):
    key = plan_key(staff)

    type_in(staff, plan_key=key)
    type_in(staff, plan_key=key, spots="Gate")

    assert [message for _, message in noted()] == [
        "Made with its pictures.",
        "Made once more, with other words.",
    ]


def test_a_form_that_is_refused_is_not_noted(staff):
    type_in(staff, spots="")

    assert noted() == []


def test_a_guide_that_was_not_noted_is_not_made(staff, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("could not note it")

    monkeypatch.setattr("jobs.console.audit.note", fail)

    with pytest.raises(RuntimeError, match="could not note"):
        type_in(staff, plan_key=plan_key(staff))
    assert not Guide.objects.exists()


def test_what_was_done_to_a_guide_outlives_it(admin_client, guide):
    change = reverse("admin:guides_guide_change", args=[guide.pk])
    spots = {"spots-TOTAL_FORMS": 0, "spots-INITIAL_FORMS": 0}
    facts = {"title": "Nara", "destination": "Japan", "picture_strategy": "sync"}
    admin_client.post(change, {**facts, **spots})
    admin_client.post(reverse("admin:guides_guide_delete", args=[guide.pk]), {"post": "yes"})

    admin_client.get(reverse("admin:index"))  # shows the messages about it, with links

    assert not Guide.objects.exists()
    page = admin_client.get(reverse("admin:admin_logentry_changelist")).text
    assert "Nara" in page
    assert change not in page


def test_what_was_done_to_a_token_outlives_it(admin_client):
    admin_client.post(
        reverse("admin:config_apitoken_add"), {"name": "partner", "pictures_per_day": 5}
    )
    token = ApiToken.objects.get(name="partner")
    admin_client.post(reverse("admin:config_apitoken_revoke", args=[token.pk]))
    ApiToken.objects.all().delete()

    page = admin_client.get(reverse("admin:admin_logentry_changelist")).text
    assert "Revoked." in page
    assert page.count("partner") >= 2
