"""Weeks in the console: read, corrected, and asked for again after a question."""

import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse

from guides.derived.models import Version
from guides.weeks.jobs import Wanted, WeeklySummary
from guides.weeks.models import WeekText
from jobs import queue, schedules
from jobs.models import Provider, Schedule
from tests.guides.weeks.conftest import ENGLISH, KEY, say
from tests.jobs.console.pages import EVIL, log_in

pytestmark = pytest.mark.django_db

LIST = reverse("admin:guides_weektext_changelist")


@pytest.fixture
def text():
    say()
    return WeekText.objects.get()


def page_of(text):
    return reverse("admin:guides_weektext_change", args=[text.pk])


def ask_page(text):
    return reverse("admin:guides_weektext_ask", args=[text.pk, "again"])


def form(row, **words):
    shown = {
        "seen": row.updated_at.isoformat(),
        "text": row.summary_text,
        "key_events": "\n".join(row.summary_json["key_events"]),
        "what_changed": row.summary_json["what_changed"],
    }
    return shown | words


def test_the_list_and_the_page_show_the_text(operator, text):
    assert ENGLISH["summary_text"] in operator.get(LIST).text
    page = operator.get(page_of(text)).text
    assert ENGLISH["summary_text"] in page
    assert "&quot;key_events&quot;" in page  # the answer as it came
    assert "Sum up again" in page


@pytest.mark.parametrize("key", ["2026-W99", "a/b"])
def test_a_row_that_names_no_week_has_a_page_and_no_button(operator, text, key):
    WeekText.objects.update(week_key=key)

    page = operator.get(page_of(text))

    assert page.status_code == 200
    assert "Sum up again" not in page.text
    assert operator.get(ask_page(text)).status_code == 302


def test_hostile_answers_are_escaped(operator, text):
    WeekText.objects.update(summary_text=EVIL, summary_json={"summary_text": EVIL})

    for address in (LIST, page_of(text)):
        assert EVIL not in operator.get(address).text


def test_a_person_corrects_a_text(operator, text):
    words = {"text": "Better words.", "key_events": "One\n\n Two \n"}
    answer = operator.post(page_of(text), form(text, **words))

    assert answer.status_code == 302
    text.refresh_from_db()
    assert text.summary_text == "Better words."
    assert text.summary_json["key_events"] == ["One", "Two"]
    assert text.summary_json["what_changed"] == ENGLISH["what_changed"]
    assert text.edited_at
    assert Version.objects.get().made_by == "operators"
    assert LogEntry.objects.filter(object_id=str(text.pk)).exists()


def test_a_form_that_changes_nothing_corrects_nothing(operator, text):
    operator.post(page_of(text), form(text))

    text.refresh_from_db()
    assert text.edited_at is None


@pytest.mark.parametrize(
    "words",
    [{"text": ""}, {"text": "x" * 3_001}, {"text": "a\x07b"}, {"seen": "yesterday"}],
)
def test_words_that_can_not_be_shown_are_refused(operator, text, words):
    answer = operator.post(page_of(text), form(text, **words))

    assert answer.status_code == 200
    text.refresh_from_db()
    assert text.summary_text == ENGLISH["summary_text"]


def test_a_form_that_was_opened_before_a_new_text_undoes_nothing(operator, text):
    old = form(text, text="Late words.")
    text.updated_at = text.updated_at.replace(year=2027)
    WeekText.objects.update(summary_text="Newer.", updated_at=text.updated_at)

    answer = operator.post(page_of(text), old)

    assert "written anew while you had it open" in answer.text
    text.refresh_from_db()
    assert text.summary_text == "Newer."


def test_a_viewer_changes_nothing(viewer, text):
    assert "Sum up again" not in viewer.get(page_of(text)).text
    assert viewer.post(page_of(text), form(text, text="Mine.")).status_code == 403
    assert viewer.get(ask_page(text)).status_code == 403
    assert viewer.post(ask_page(text)).status_code == 403
    assert not WeeklySummary.objects.exists()


def test_an_editor_corrects_too(client, text):
    editor = log_in(client, "editors")

    assert editor.post(page_of(text), form(text, text="Mine.")).status_code == 302


def test_asking_again_tells_the_price_first(operator, text):
    page = operator.get(ask_page(text)).text
    assert "It costs nothing." in page
    assert not WeeklySummary.objects.exists()

    answer = operator.post(ask_page(text), follow=True)

    assert "is being summed up again" in answer.text
    job = WeeklySummary.objects.get()
    assert (job.week_key, job.wanted, job.asked_by) == (KEY, Wanted.ALL, "operators")
    [entry] = LogEntry.objects.all()
    assert entry.change_message == "Asked to sum up the week again."
    assert "already" in operator.post(ask_page(text), follow=True).text
    assert (WeeklySummary.objects.count(), LogEntry.objects.count()) == (1, 1)


def test_a_provider_with_a_price_is_dearer(operator, text, settings):
    settings.LLM_PROVIDER = "openai"
    settings.OPENAI_API_KEY = "secret"
    assert "is not set, so the cost is unknown" in operator.get(ask_page(text)).text
    name = f"openai:{settings.OPENAI_TEXT_MODEL}"
    Provider.objects.update_or_create(name=name, defaults={"input_price": 1, "output_price": 10})
    assert "It costs at most about 0.0" in operator.get(ask_page(text)).text


def test_a_week_without_guides_tells_that_nothing_will_be_asked(operator, text):
    WeekText.objects.update(week_key="2026-W20")

    assert "nothing will be asked" in operator.get(ask_page(text)).text


def test_a_week_without_a_text_can_be_asked_for_and_not_be_corrected(operator, text):
    WeekText.objects.update(summary_text="", summary_json={}, is_awaited=True)

    page = operator.get(page_of(text))

    assert page.status_code == 200
    assert "Sum up again" in page.text
    assert "on its way" in page.text
    assert operator.post(page_of(text), {"text": "x"}).status_code == 403


def test_the_jobs_of_weeks_have_their_pages(operator):
    queue.enqueue([WeeklySummary(week_key=KEY)])
    job = WeeklySummary.objects.get()

    assert KEY in operator.get(reverse("admin:guides_weeklysummary_changelist")).text
    page = reverse("admin:guides_weeklysummary_change", args=[job.pk])
    assert operator.get(page).status_code == 200


def test_the_schedule_can_be_run_by_hand():
    schedule = Schedule.objects.create(
        name="guides.WeeklySummary",
        kind="guides.WeeklySummary",
        cron="0 6 * * 1",
        time_zone="UTC",
        last_scheduled_for="2026-01-01T00:00Z",
        declared={},
    )

    job = schedules.run_now(schedule)

    assert WeeklySummary.objects.get().pk == job.pk
