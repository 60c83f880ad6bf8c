"""Versions of texts in the console: found, compared, put back."""

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from guides.admin.texts import versions_link
from guides.derived import versions
from guides.derived.models import Commission, Version
from guides.models import Guide
from jobs.models import Process, uuid7
from tests.jobs.console.pages import EVIL, log_in

pytestmark = pytest.mark.django_db

LIST = reverse("admin:guides_version_changelist")
UNIT = "topic:en:temple"


@pytest.fixture
def page(monkeypatch):
    """What pages show of a topic."""
    page = {"text": "Old temples and quiet gates."}
    monkeypatch.setitem(versions._shown, "topic", lambda unit: dict(page))
    monkeypatch.setitem(versions._put_back, "topic", lambda version: page.update(version.payload))
    return page


@pytest.fixture
def two(page):
    old = keep("Old temples and quiet gates.")
    page["text"] = "New temples and quiet gardens."
    return old, keep(page["text"])


def keep(text, unit=UNIT, **more):
    return versions.keep(unit, {"text": text}, made_by="scribe", **more)


def cards(client, version):
    page = client.get(reverse("admin:guides_version_change", args=[version.pk]))
    assert page.status_code == 200
    return page.text.partition("All columns")[0]


def put_back(client, version, method="post"):
    url = reverse("admin:guides_version_ask", args=[version.pk, "put_back"])
    return getattr(client, method)(url, follow=True)


def test_the_page_shows_what_was_changed(viewer, two):
    old, new = two

    assert "<del>Old</del><ins>New</ins> temples" in cards(viewer, new)
    shown = cards(viewer, old)
    assert "How the latest version, 2, differs from it" in shown
    assert "<del>gates</del><ins>gardens</ins>" in shown


def test_japanese_is_compared_by_its_letters(viewer):
    keep("静かな寺を歩く。", unit="topic:ja:寺")
    new = keep("静かな庭を歩く。", unit="topic:ja:寺")

    assert "静かな<del>寺</del><ins>庭</ins>を歩く。" in cards(viewer, new)


def test_what_a_model_wrote_is_escaped(viewer):
    keep(EVIL)
    new = keep(f"{EVIL} {EVIL}")

    shown = cards(viewer, new)
    assert "<script>alert" not in shown
    assert "<img src=x" not in shown
    assert "<script>alert" not in viewer.get(LIST).text


def test_an_operator_puts_an_older_version_back(operator, two, page):
    old, _new = two
    assert "as a new version" in put_back(operator, old, "get").text
    assert page["text"].startswith("New")

    assert "shows version 1 again" in put_back(operator, old).text

    assert page["text"].startswith("Old")
    latest = versions.latest(UNIT)
    assert (latest.version, latest.made_by) == (3, "operators")
    assert [entry.object_id for entry in LogEntry.objects.all()] == [str(old.pk)]
    assert "Shows version 1 again." in cards(operator, old)


def test_an_editor_may_put_back_and_a_viewer_may_not(client, two, page):
    log_in(client, "viewers")
    assert "Put back" not in cards(client, two[0])
    assert put_back(client, two[0]).status_code == 403
    assert page["text"].startswith("New")

    log_in(client, "editors")
    put_back(client, two[0])
    assert page["text"].startswith("Old")


def test_what_is_shown_already_is_not_put_back(operator, two):
    assert "shown now" in cards(operator, two[1])
    assert "Put back" not in cards(operator, two[1])

    assert "Nothing was changed" in put_back(operator, two[1]).text
    assert Version.objects.count() == 2


def test_the_latest_version_can_be_chosen_if_a_person_edited_the_text_since(operator, two, page):
    page["text"] = "By hand."
    assert "How what pages show now differs from it" in cards(operator, two[1])

    put_back(operator, two[1])

    assert page["text"].startswith("New")
    made = list(Version.objects.order_by("version").values_list("payload__text", "made_by"))
    assert made[2:] == [("By hand.", "a person"), ("New temples and quiet gardens.", "operators")]


@pytest.mark.parametrize("unit", ["spot:x", "translation:x", "topic:x", "week:x", "guide:x"])
def test_a_unit_that_names_nothing_has_a_page_and_is_not_put_back(operator, unit):
    old, _new = keep("Old.", unit), keep("New.", unit)

    assert "Old." in cards(operator, old)
    assert "no page shows it any more" in put_back(operator, old).text


@pytest.mark.parametrize("payload", [{"words": "Old."}, ["Old."], "Old."])
def test_a_content_of_another_form_is_not_put_back(operator, payload):
    Guide.objects.create(plan_id="kyoto", title="Kyoto")
    facts = {"payload": payload, "payload_hash": "0", "made_by": "a program"}
    other = Version.objects.create(unit="guide:kyoto", version=1, **facts)

    assert "Old." in cards(operator, other)
    assert "its content is not that of such a text" in put_back(operator, other).text
    assert Guide.objects.get().title == "Kyoto"


def test_a_kind_that_no_slice_shows_says_so(operator):
    stray = keep("a", unit="stray:1")

    assert "can’t be put back" in cards(operator, stray)
    assert "Nothing was changed" in put_back(operator, stray).text


def test_versions_are_found_by_kind_unit_and_what_it_is_about(viewer):
    keep("a")
    keep("b", unit="week:en:2026-W47")
    keep("c", unit="translation:ja:kyoto:title")

    def found(query):
        rows = viewer.get(f"{LIST}?{query}").context["cl"].result_list
        return [row.payload["text"] for row in rows]

    assert found("") == ["c", "b", "a"]
    assert found("kind=week") == ["b"]
    assert found("q=topic:en") == ["a"]
    assert found("q=kyoto") == ["c"]
    assert found("q=2026-W47") == ["b"]
    assert found("q=%25") == []
    assert found(versions_link("week:en:2026-W47").partition("?")[2]) == ["b"]


def test_a_version_links_to_what_brought_it_as_long_as_that_exists(operator):
    process = Process.objects.create(label="Topics")
    Commission.objects.create(process_id=process.pk, slice="topics", subject="temple")
    job_id = uuid7()
    version = keep("a", process_id=process.pk, job_id=job_id)

    shown = cards(operator, version)
    assert reverse("admin:jobs_process_change", args=[process.pk]) in shown
    assert reverse("admin:guides_commission_change", args=[process.pk]) in shown
    assert f"?q={job_id}" in shown
    process.delete()
    assert reverse("admin:jobs_process_change", args=[process.pk]) not in cards(operator, version)


def test_the_list_asks_as_much_of_many_versions_as_of_few(viewer):
    def queries():
        with CaptureQueriesContext(
            connection,
        ) as asked:
            assert viewer.get(LIST).status_code == 200
        return len(asked)

    keep("a")
    viewer.get(LIST)
    few = queries()
    for number in range(30):
        keep(f"text {number}", unit=f"topic:en:{number}")

    assert queries() == few


@pytest.mark.parametrize("query", ["unit=%00", "process=x", "q=%00", "kind=none", "process=%00"])
def test_a_forged_address_does_no_harm(viewer, query):
    assert viewer.get(f"{LIST}?{query}").status_code in (200, 404)
