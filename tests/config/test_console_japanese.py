"""The console in Japanese: unfold brings none, and Django none for our own words."""

import re
from html import unescape

import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse
from django.utils import timezone, translation

from jobs.console import audit
from jobs.models import Attempt, Call, Outcome, uuid7
from tests.guides.conftest import save_guide

pytestmark = pytest.mark.django_db

JAPANESE = {"Accept-Language": "ja"}
ICON = re.compile(r"<span[^>]*material-symbols[^>]*>.*?</span>", re.DOTALL)
ENGLISH = re.compile(r"[A-Za-z]{2,}")


def crumbs(page):
    [title] = re.findall(r"<h1.*?</h1>", ICON.sub("", page), re.DOTALL)
    return " ".join(re.sub("<[^>]+>", " ", unescape(title)).split())


@pytest.mark.few(5)
@pytest.mark.parametrize(
    "name",
    [
        *("index", "guides_guide_changelist", "guides_guide_add", "guides_spotdetail_changelist"),
        *("guides_spotimagejob_changelist", "guides_spotimage_changelist"),
        *("jobs_attempt_changelist", "jobs_call_changelist", "jobs_provider_changelist"),
        *("jobs_worker_changelist", "auth_user_changelist", "auth_group_add"),
        *("jobs_schedule_changelist", "jobs_event_changelist", "jobs_alert_changelist"),
        "admin_logentry_changelist",
    ],
)
def test_no_breadcrumb_is_english(admin_client, name):
    page = admin_client.get(reverse(f"admin:{name}"), headers=JAPANESE).text

    assert crumbs(page)
    assert not ENGLISH.findall(crumbs(page))


def test_the_breadcrumbs_of_calls_and_attempts_are_japanese(admin_client):
    columns = {"job_id": uuid7(), "kind": "", "epoch": 1, "worker": "w"}
    moment = timezone.now()
    call = Call.objects.create(
        **columns, provider="", key="", number=1, deadline=moment, state="stored"
    )
    attempt = Attempt.objects.create(**columns, started_at=moment, outcome=Outcome.FAILED)

    for name, row in (("call", call), ("attempt", attempt)):
        page = admin_client.get(
            reverse(f"admin:jobs_{name}_change", args=[row.pk]), headers=JAPANESE
        )
        shown = crumbs(page.text).replace(str(columns["job_id"]), "")
        assert not ENGLISH.findall(shown), shown


def test_calls_and_attempts_have_short_names_that_fit_the_breadcrumb(admin_client):
    columns = {"job_id": uuid7(), "kind": "guides.SpotImageJob", "epoch": 3, "worker": "w"}
    moment = timezone.now()
    provider = "gemini:gemini-3.1-flash-image"
    call = Call.objects.create(**columns, provider=provider, number=2, deadline=moment)
    attempt = Attempt.objects.create(**columns, started_at=moment, outcome=Outcome.FAILED)

    for name, row, title in (
        ("call", call, "Calls gemini:gemini-3.1-flash-image #2"),
        ("attempt", attempt, "Attempts guides.SpotImageJob #3"),
    ):
        page = admin_client.get(reverse(f"admin:jobs_{name}_change", args=[row.pk]))
        assert crumbs(page.text).endswith(title)


def test_the_audit_names_things_alike_whatever_language_the_person_reads(admin_user):
    call = Call(pk=1, provider="p", number=1, state="stored")

    with translation.override("ja"):
        audit.note(admin_user, [call], "Looked into.")
        audit.note_many(admin_user, Call, 12, "Looked into.")

    assert [entry.object_repr for entry in LogEntry.objects.order_by("id")] == ["p #1", "12 calls"]


def test_words_of_unfold_are_japanese(admin_client):
    save_guide("門")

    page = admin_client.get(reverse("admin:guides_spotimagejob_changelist"), headers=JAPANESE).text

    for word in ("Run", "Select all rows", "Select record", "Select action", "Apply Filters"):
        assert word not in re.findall(r'(?:>|")\s*([^<>"]+?)\s*(?:<|")', page)


def test_errors_in_a_form_are_japanese(admin_client):
    form = {
        "plan_id": "a b",
        "title": "",
        "spots-TOTAL_FORMS": 1,
        "spots-INITIAL_FORMS": 0,
        "spots-0-position": "x",
        "spots-0-spot_name": "",
        "spots-0-topic_tags": "[1",
    }

    page = admin_client.post(reverse("admin:guides_guide_add"), form, headers=JAPANESE)

    [spots] = page.context["inline_admin_formsets"]
    lists = [page.context["adminform"].form.errors, *spots.formset.errors]
    errors = [text for errors in lists for texts in errors.values() for text in texts]
    assert len(errors) == 5
    assert all(re.search("[ぁ-ん]", text) for text in errors), errors


def test_a_refusal_is_japanese(viewer):
    page = viewer.get(reverse("new_guide"), headers=JAPANESE)

    assert page.status_code == 403
    assert "権限" in page.text
