"""A guide is written: an outline first, then a text per spot, each kept once."""

import pytest

from guides.derived.models import Commission, Version
from guides.models import Guide, SpotDetail, SpotImageJob
from guides.writing import asking
from guides.writing.keepers import KeepTexts
from jobs.llm.models import LLMJob
from jobs.models import Event, Process
from tests.guides.writing.writers import (
    LISBON,
    TEXT,
    answer,
    claim,
    describe,
    keep,
    manuscript,
    names,
    outline,
    scribe_all,
    tell,
    wish,
    written,
)

pytestmark = pytest.mark.django_db


def test_the_guide_exists_at_once():
    guide = wish()

    assert (guide.title, guide.destination, guide.language) == ("Lisbon", "Lisbon", "en")
    assert manuscript().state == "outline"
    assert LLMJob.objects.get().process_id == manuscript().process_id


def test_a_wish_that_is_rolled_back_asks_nothing():
    def book(pictures):
        raise RuntimeError(f"no room for {pictures}")

    with pytest.raises(RuntimeError, match="no room for 3"):
        asking.write_guide(Guide(plan_id="lisbon"), LISBON, by="mika", book=book)

    assert not Guide.objects.exists()
    assert not LLMJob.objects.exists()
    assert not Process.objects.exists()


def test_the_same_wish_again_changes_nothing():
    wish()

    assert asking.write_guide(Guide(plan_id="lisbon"), LISBON, by="kai") == "unchanged"

    assert LLMJob.objects.count() == 1


@pytest.mark.parametrize("other", [{"days": 5}, {"tone": "lively"}, {"destination": "Porto"}])
def test_another_wish_for_the_same_id_is_refused(other):
    wish()

    with pytest.raises(asking.AlreadyThere):
        wish(**other)


def test_a_guide_that_somebody_typed_is_not_written_over(guide):
    with pytest.raises(asking.AlreadyThere):
        wish(plan_id="kyoto")


def test_the_outline_names_the_guide_and_asks_for_each_spot():
    wish()

    tell(outline("Castle", "Tower", "Tram"))

    assert Guide.objects.get().title == "Lisbon, slowly"
    assert [spot.name for spot in manuscript().planned.all()] == ["Castle", "Tower", "Tram"]
    assert manuscript().state == "texts"
    assert [job.position for job in LLMJob.objects.order_by("position")] == [0, 1, 2]
    assert Process.objects.count() == 2
    assert not SpotDetail.objects.exists()


def test_spots_and_the_jobs_for_their_pictures_come_together():
    written("Castle", "Tower", "Tram")

    assert names() == ["Castle", "Tower", "Tram"]
    assert set(SpotDetail.objects.values_list("description", "topic_tags__0")) == {(TEXT, "view")}
    assert SpotImageJob.objects.count() == 3
    assert manuscript().state == "done"
    assert not LLMJob.objects.exists()


def test_saving_the_spots_is_told_once():
    written("Castle", "Tower")

    saved = Event.objects.filter(kind="guide.saved").order_by("created_at")
    assert [event.payload["change"] for event in saved] == ["created", "updated"]


def test_what_it_cost_and_who_wrote_it_is_remembered():
    written("Castle", "Tower")

    commissions = Commission.objects.order_by("created_at").values_list("requests", "made_by")
    assert list(commissions) == [(1, "gemini:test"), (2, "gemini:test")]
    made = Version.objects.exclude(job_id=None).exclude(process_id=None)
    assert {version.unit.partition(":")[0] for version in made} == {"guide", "spot"}
    assert made.count() == 3


def test_a_failed_spot_does_not_fail_the_guide():
    wish()
    tell(outline("Castle", "Tower", "Tram"))

    describe(TEXT, None, TEXT, default=None)

    assert names() == ["Castle", "Tram"]
    assert [spot.position for spot in SpotDetail.objects.all()] == [0, 2]
    assert manuscript().state == "done"
    [failed] = manuscript().planned.filter(state="failed")
    assert (failed.name, failed.error) == ("Tower", "the model refuses")


def test_a_guide_without_a_single_text_has_failed():
    wish()
    tell(outline("Castle", "Tower"))

    describe(default=None)

    assert manuscript().state == "failed"
    assert manuscript().error == "the model refuses"
    assert Guide.objects.exists()


def test_a_failed_outline_leaves_the_guide_and_says_why():
    wish()

    tell(None)

    assert (manuscript().state, manuscript().error) == ("failed", "the model refuses")
    assert not LLMJob.objects.exists()


def test_a_keeper_that_runs_twice_keeps_once():
    wish()
    tell(outline("Castle"))
    answer({"description": TEXT})
    [job] = claim(KeepTexts)

    for _ in range(2):
        job.perform(None)

    assert names() == ["Castle"]
    assert Version.objects.filter(unit__startswith="spot:").count() == 1


def test_a_keeper_that_gives_up_leaves_no_page_waiting(monkeypatch):
    wish()
    tell(outline("Castle"))
    answer({"description": TEXT})
    KeepTexts.objects.update(max_attempts=1)
    with monkeypatch.context() as patch:
        patch.setattr("guides.writing.saving.save_spots", lambda *_: 1 / 0)
        assert keep() == ["failed"]

    assert (manuscript().state, manuscript().error) == ("failed", "division by zero")
    assert manuscript().planned.get().state == "failed"


def test_a_keeper_that_a_person_requeues_finishes_its_work(monkeypatch):
    from jobs import queue

    test_a_keeper_that_gives_up_leaves_no_page_waiting(monkeypatch)

    queue.requeue(KeepTexts.objects.all(), by="mika")
    assert (manuscript().state, manuscript().planned.get().state) == ("texts", "writing")
    keep()

    assert names() == ["Castle"]
    assert manuscript().state == "done"


def test_a_canceled_keeper_leaves_no_page_waiting():
    from jobs import queue

    wish()
    answer(outline("Castle"))

    queue.cancel(type(keep_outline()).objects.all(), "not needed", by="mika")

    assert manuscript().state == "failed"


def keep_outline():
    from guides.writing.keepers import KeepOutline

    return KeepOutline.objects.get()


@pytest.mark.parametrize(("language", "place"), [("en", "Lisbon"), ("ja", "金沢")])
def test_the_scribe_writes_a_guide_of_ten_spots(pictures, settings, language, place):
    settings.SCRIBE_SECONDS = 0

    wish(destination=place, language=language, spots=10)
    scribe_all()

    assert manuscript().state == "done"
    assert len(names()) == 10
    assert not manuscript().planned.filter(state="failed").exists()
    assert len(set(SpotDetail.objects.values_list("description", flat=True))) > 5
