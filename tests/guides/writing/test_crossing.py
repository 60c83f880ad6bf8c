"""Two actions cross: nothing is resurrected, nothing of a person's is lost, nothing crashes."""

import json

import pytest
from django.db.models.functions import Now

from guides import handlers, services
from guides.models import Guide, SpotDetail, SpotImageJob
from guides.writing import asking, keepers
from guides.writing.models import Manuscript
from jobs import llm
from jobs.llm.models import LLMJob
from jobs.models import Event, Process
from tests.guides.writing.writers import (
    TEXT,
    answer,
    describe,
    keep,
    manuscript,
    names,
    outline,
    tell,
    wish,
)

pytestmark = pytest.mark.django_db


def withdraw():
    handlers.withdraw_guide(Event(payload={"plan_id": "lisbon"}, created_at=Now()), None)


def test_a_person_who_names_the_guide_meanwhile_keeps_their_title():
    wish()
    Guide.objects.update(title="Our week", summary="With friends.")

    tell(outline("Castle"))

    guide = Guide.objects.get()
    assert (guide.title, guide.summary) == ("Our week", "With friends.")


def test_a_person_who_wrote_only_the_title_still_gets_a_summary():
    wish()
    Guide.objects.update(title="Our week")

    tell(outline("Castle"))

    guide = Guide.objects.get()
    assert (guide.title, guide.summary) == ("Our week", "Up and down the hills.")


def test_a_manuscript_that_is_forgotten_while_it_fails_does_not_come_back():
    guide = wish()
    read_before = manuscript()
    asking.forget(guide.pk)

    keepers.fail(read_before, "the worker died")

    assert not Manuscript.objects.exists()


def test_a_spot_that_a_person_added_meanwhile_is_left_alone():
    guide = wish()
    tell(outline("Castle", "Tower"))
    SpotDetail.objects.create(guide=guide, spot_name="castle ", description="Mine.")

    describe()

    assert sorted(names()) == ["Tower", "castle"]
    assert SpotDetail.objects.get(spot_name="castle").description == "Mine."
    assert manuscript().state == "done"


@pytest.mark.parametrize("step", ["outline", "texts"])
def test_a_guide_deleted_meanwhile_does_not_come_back(step):
    guide = wish()
    if step == "texts":
        tell(outline("Castle"))
        answer({"description": TEXT})
    else:
        answer(outline("Castle"))

    guide.delete()

    assert keep() == ["succeeded"]
    assert not Guide.objects.exists()
    assert not LLMJob.objects.exists()
    assert not SpotImageJob.objects.exists()


def test_what_a_deleted_guide_still_waits_for_is_not_bought():
    wish()
    tell(outline("Castle", "Tower"))

    Guide.objects.all().delete()

    assert set(LLMJob.objects.values_list("status", flat=True)) == {"canceled"}
    keep()
    assert not Process.objects.living().exists()


def test_a_guide_withdrawn_before_its_outline_asks_for_nothing_more():
    wish()
    answer(outline("Castle"))

    withdraw()
    keep()

    assert not LLMJob.objects.exists()
    assert (manuscript().state, manuscript().error) == ("failed", "Its guide was withdrawn.")


def test_the_texts_of_a_withdrawn_guide_buy_no_picture():
    wish()
    tell(outline("Castle"))
    answer({"description": TEXT})

    withdraw()
    keep()

    assert names() == ["Castle"]
    assert SpotImageJob.objects.get().status == "canceled"


def test_a_guide_that_is_published_again_gets_the_pictures_of_its_texts():
    test_the_texts_of_a_withdrawn_guide_buy_no_picture()

    services.publish_guides(Guide.objects.all())

    assert SpotImageJob.objects.get().status == "queued"


def test_what_a_withdrawn_guide_still_waits_for_is_not_bought():
    wish()
    tell(outline("Castle", "Tower"))

    withdraw()

    assert set(LLMJob.objects.values_list("status", flat=True)) == {"canceled"}
    keep()
    assert manuscript().state == "failed"


def test_a_guide_that_is_handed_over_meanwhile_is_as_it_was_handed_over(send):
    wish()
    tell(outline("Castle"))
    answer({"description": TEXT})

    sent = {"plan_id": "lisbon", "title": "Mine", "spots": [{"name": "Harbour"}]}
    assert send(json.dumps(sent)).json()["result"] == "updated"
    keep()

    assert names() == ["Harbour"]
    assert Guide.objects.get().title == "Mine"
    assert not Manuscript.objects.exists()
    assert not LLMJob.objects.exists()


def test_requests_that_an_operator_cancels_end_the_waiting():
    wish()

    llm.cancel(manuscript().process_id)
    keep()

    assert manuscript().state == "failed"
