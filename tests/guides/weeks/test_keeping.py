"""An answer is kept once; what a person corrected stays until the facts change."""

import json

import pytest

from guides.derived import versions
from guides.derived.models import Commission, Version
from guides.derived.versions import CantPutBack
from guides.weeks import asking, keeping
from guides.weeks.jobs import KeepWeek, Wanted, WeeklySummary
from guides.weeks.models import WeekText
from jobs import llm, queue
from jobs.errors import PermanentError
from jobs.llm.models import LLMJob
from jobs.models import Status
from jobs.queue import outcomes
from tests.guides.weeks.conftest import (
    ENGLISH,
    JAPANESE,
    KEY,
    WEDNESDAY,
    finish,
    guide_of,
    sum_up,
    text_of,
)
from tests.jobs.llm.conftest import claim, raw, work

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def kyoto(writer):
    return guide_of(WEDNESDAY, "Gate")


def test_the_answer_is_stored_whole_and_shown_clean(kyoto, writer):
    dirty = {
        "summary_text": "<b>Kyoto</b> is new.<script>alert(1)</script> See https://evil.example/x",
        "key_events": ["[Kyoto](https://evil.example) now"],
        "what_changed": "",
    }
    writer.answers["en"] = dirty
    sum_up()

    text = text_of()
    assert text.summary_json == dirty
    assert text.summary_text == "Kyoto is new. See"
    assert keeping.events_of(text.summary_json) == ["Kyoto now"]


def test_a_request_that_failed_leaves_the_other_language(kyoto, writer):
    asking.weekly_summary(KEY)
    work(WeeklySummary)
    japanese = LLMJob.objects.get(position=1)
    queue.cancel(LLMJob.objects.filter(pk=japanese.pk))
    work(LLMJob)
    work(KeepWeek)

    assert text_of("en").summary_text
    assert not text_of("ja").summary_text
    assert not WeekText.objects.filter(is_awaited=True).exists()
    sum_up()  # asks for what is lacking, and for nothing else
    assert text_of("ja").summary_text == JAPANESE["summary_text"]
    assert Commission.objects.order_by("-created_at").first().requests == 1


@pytest.mark.parametrize(
    "said", ["", "   ", "<p></p>", "\u200b", "今週は京都のガイドが増えました。"]
)
def test_an_answer_that_is_no_use_is_not_shown(kyoto, writer, said):
    writer.answers["en"] = {**ENGLISH, "summary_text": said}
    sum_up()

    assert text_of("en").summary_text == ""
    assert not text_of("en").is_awaited
    assert text_of("ja").summary_text


def test_names_of_guides_say_nothing_about_the_language(writer):
    name = "A very long English title of a guide to Kyoto and its temples"
    guide_of(WEDNESDAY, "Gate")
    type(guide_of(WEDNESDAY, plan_id="b")).objects.filter(pk="b").update(title=name)
    writer.answers["ja"] = {**JAPANESE, "summary_text": f"{name} が新しく加わりました。"}
    sum_up()

    assert name in text_of("ja").summary_text


def test_an_answer_that_is_no_use_leaves_the_old_text(kyoto, writer):
    sum_up()
    writer.answers["en"] = {**ENGLISH, "summary_text": "<br>"}
    sum_up(wanted=Wanted.ALL)

    assert text_of().summary_text == ENGLISH["summary_text"]


# A person's words


def correct(words="A person wrote this."):
    return keeping.correct(text_of(), {"summary_text": words}, by="mika")


def test_what_a_person_corrected_stays_when_it_is_asked_for_again(kyoto, writer):
    sum_up()
    correct()
    writer.answers["en"] = {**ENGLISH, "summary_text": "The machine has other words."}
    sum_up(wanted=Wanted.ALL)

    assert text_of().summary_text == "A person wrote this."
    newest = versions.latest(f"week:en:{KEY}")
    assert newest.payload["summary_text"] == "The machine has other words."
    assert newest.made_by == "quill"


def test_what_a_person_corrected_goes_when_the_facts_change(kyoto, writer):
    sum_up()
    correct()
    guide_of(WEDNESDAY, "Tower", plan_id="lisbon")
    sum_up()

    assert text_of().summary_text == ENGLISH["summary_text"]
    assert text_of().edited_at is None
    assert Version.objects.filter(made_by="mika").count() == 1


def test_what_a_person_corrects_while_the_answer_is_on_its_way_stays(kyoto, writer):
    sum_up()
    guide_of(WEDNESDAY, "Tower", plan_id="lisbon")
    asking.weekly_summary(KEY)
    work(WeeklySummary)
    correct()
    work(LLMJob)
    work(KeepWeek)

    assert text_of().summary_text == "A person wrote this."
    asking.weekly_summary(KEY)
    finish()
    assert Commission.objects.count() == 2  # the person has said something about these facts


def test_a_correction_of_a_text_that_is_gone_changes_nothing(kyoto, writer):
    sum_up()
    read = text_of()
    correct("First.")

    assert not keeping.correct(read, {"summary_text": "Second."}, by="anna")
    assert text_of().summary_text == "First."


def test_an_older_version_can_be_put_back(kyoto, writer):
    sum_up()
    correct()
    versions.put_back(Version.objects.get(unit=f"week:en:{KEY}", version=1), by="mika")

    assert text_of().summary_text == ENGLISH["summary_text"]
    assert text_of().edited_at


def test_a_version_of_a_week_that_is_gone_can_not_be_put_back(kyoto, writer):
    sum_up()
    WeekText.objects.all().delete()

    with pytest.raises(CantPutBack, match=f"week:en:{KEY}"):
        versions.put_back(Version.objects.get(unit=f"week:en:{KEY}"), by="mika")


# A keeper in trouble


def asked():
    """Requests that are answered, and a keeper that is claimed."""
    asking.weekly_summary(KEY)
    work(WeeklySummary)
    work(LLMJob)
    [keeper] = claim(KeepWeek)
    return keeper


def test_a_keeper_that_gives_up_leaves_nobody_waiting(kyoto):
    keeper = asked()
    queue.settle([outcomes.from_error(keeper, PermanentError("no"))])
    assert not WeekText.objects.filter(is_awaited=True).exists()

    queue.requeue(KeepWeek.objects.all())
    assert WeekText.objects.filter(is_awaited=True).count() == 2
    work(KeepWeek)
    assert text_of().summary_text
    assert not WeekText.objects.filter(is_awaited=True).exists()


def test_a_keeper_that_is_canceled_leaves_nobody_waiting(kyoto):
    asked()
    queue.cancel(KeepWeek.objects.all())

    assert not WeekText.objects.filter(is_awaited=True).exists()


def test_a_keeper_that_is_requeued_after_its_end_waits_for_nothing(kyoto):
    sum_up()
    queue.requeue(KeepWeek.objects.all())
    assert not WeekText.objects.filter(is_awaited=True).exists()
    work(KeepWeek)

    assert KeepWeek.objects.get().status == Status.SUCCEEDED
    assert Version.objects.count() == 2


def test_a_process_that_is_canceled_can_be_asked_again(kyoto):
    asking.weekly_summary(KEY)
    work(WeeklySummary)
    llm.cancel(Commission.objects.get().pk)
    work(KeepWeek)
    assert not WeekText.objects.filter(is_awaited=True).exists()

    sum_up()
    assert text_of().summary_text


def test_guides_that_are_deleted_meanwhile_do_no_harm(kyoto):
    keeper = asked()
    kyoto.delete()
    WeekText.objects.all().delete()
    keeper.perform(None)

    assert not WeekText.objects.exists()


def test_an_answer_of_another_shape_is_refused_by_its_schema(kyoto, writer):
    writer.write = lambda request, timeout: type(writer).write(writer, request, timeout)
    writer.reply = raw(json.dumps({"summary_text": ["no"], "key_events": "x"}))
    asking.weekly_summary(KEY)
    work(WeeklySummary)
    work(LLMJob)

    assert set(LLMJob.objects.values_list("status", flat=True)) == {Status.QUEUED}  # once more
