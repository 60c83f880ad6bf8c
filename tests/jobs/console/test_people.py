"""What people did: one page of all actions, which outlives what they were done to."""

from datetime import timedelta

import pytest
from django.contrib.admin.models import ADDITION, CHANGE, DELETION, LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone, translation

from jobs import queue
from jobs.console import audit, people
from jobs.models import Process, Provider
from jobs.paid import limits
from jobs.queue import processes
from tests.jobs.conftest import new_chore
from tests.jobs.console.pages import EVIL, do_to_many, in_state, press
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db

PAGE = reverse("admin:admin_logentry_changelist")
NOW = timezone.now()


@pytest.fixture
def ada():
    return User.objects.create_user("ada", is_staff=True)


def shown(client, **query):
    """The rows of the page: person, action, to what."""
    answer = client.get(PAGE, query)
    assert answer.status_code == 200
    rows = answer.context["cl"].result_list
    return [(str(entry.user), people.told(entry), entry.object_repr) for entry in rows]


def names(client, **query):
    return [what for _, _, what in shown(client, **query)]


def entry(by, name, *, ago=timedelta(0), model=Chore, flag=CHANGE, **columns):
    made = LogEntry.objects.create(
        user=by,
        content_type=ContentType.objects.get_for_model(model),
        object_repr=name,
        action_flag=flag,
        **columns,
    )
    LogEntry.objects.filter(pk=made.pk).update(action_time=NOW - ago)
    return made


def day(ago):
    return f"{timezone.localtime(NOW - ago):%Y-%m-%d}"


# The page


def test_actions_are_told_newest_first_bulk_ones_included(operator):
    one, *many = in_state("failed", "a", "b", "c")
    press(operator, "requeue", one)
    do_to_many(operator, "cancel", *many, one)

    told = [(who, what) for who, what, _ in shown(operator)]

    assert told[0] == ("operators", "Canceled.")
    assert told[-1] == ("operators", "Requeued.")
    assert "1 chores" in names(operator)[0]


def test_a_row_that_is_there_is_a_link_and_one_that_is_gone_is_a_text(operator):
    kept, gone = in_state("failed", "a", "b")
    press(operator, "requeue", kept)
    press(operator, "remove", gone)

    page = operator.get(PAGE).text

    assert reverse("admin:testapp_chore_change", args=[kept.pk]) in page
    assert str(gone) in page
    assert reverse("admin:testapp_chore_change", args=[gone.pk]) not in page


def test_an_action_on_a_whole_kind_leads_to_its_list(operator):
    operator.post(reverse("admin:testapp_chore_pause"), {"reason": "repairs"})

    page = operator.get(PAGE).text

    assert f'<a href="{reverse("admin:testapp_chore_changelist")}">chores</a>' in page
    assert "Paused until resumed: repairs" in page


def test_what_was_done_outlives_jobs_providers_and_processes(operator, ada):
    rows = [new_chore("a"), limits.find("dear"), processes.start("week")]
    audit.note(ada, rows, "Looked at.")
    queue.cancel(Chore.objects.all())
    for model in (Chore, Provider, Process):
        model.objects.all().delete()

    assert [what for _, what, _ in shown(operator)] == ["Looked at."] * 3


def test_ids_that_no_row_can_have_are_texts(operator, ada):
    for id in ("not-a-uuid", "x\ud7ff", "", None, "9" * 400):
        entry(ada, "strange", object_id=id)
    entry(ada, "unknown kind")
    LogEntry.objects.filter(object_repr="unknown kind").update(content_type=None)

    assert len(shown(operator)) == 6


def test_stored_texts_are_harmless(operator, ada):
    entry(ada, EVIL, change_message=EVIL)

    assert "<script>alert" not in operator.get(PAGE).text


def test_entries_of_djangos_own_forms_are_told_in_words(operator, ada):
    entry(ada, "a", change_message='[{"changed": {"fields": ["Burst"]}}]')
    entry(ada, "b", flag=DELETION)
    entry(ada, "c", flag=ADDITION)

    assert [what for _, what, _ in shown(operator)] == ["Added.", "Deleted.", "Changed Burst."]


def test_sentences_are_told_in_the_readers_language(ada):
    made = entry(ada, "a", change_message="Canceled by ada.")
    with translation.override("ja"):
        assert people.told(made) != "Canceled by ada."
        assert "ada" in people.told(made)


# Who sees it


def test_a_viewer_sees_it_and_changes_nothing(viewer, ada):
    made = entry(ada, "a")

    assert names(viewer) == ["a"]
    change = reverse("admin:admin_logentry_change", args=[made.pk])
    assert viewer.get(change).status_code == 200
    for url in (change, reverse("admin:admin_logentry_delete", args=[made.pk])):
        assert viewer.post(url, {"object_repr": "b"}).status_code == 403
    assert viewer.get(reverse("admin:admin_logentry_add")).status_code == 403
    data = {"action": "delete_selected", "_selected_action": [made.pk], "post": "yes"}
    viewer.post(PAGE, data)
    assert LogEntry.objects.get().object_repr == "a"


def test_even_a_superuser_deletes_no_entry(admin_client, ada):
    made = entry(ada, "a")

    admin_client.post(reverse("admin:admin_logentry_delete", args=[made.pk]), {"post": "yes"})

    assert LogEntry.objects.filter(pk=made.pk).exists()


def test_others_do_not_see_it(client, ada):
    client.force_login(ada)

    assert client.get(PAGE).status_code == 403


def test_what_was_done_to_things_that_a_person_may_not_open_is_not_shown(
    operator, admin_client, ada
):
    entry(ada, "ada", model=User, change_message="Logged in from 192.0.2.7.")
    entry(ada, "a chore")

    assert names(operator) == ["a chore"]
    assert "ada" in names(admin_client)


def test_it_is_in_the_menu_of_those_who_may_open_it(operator):
    assert PAGE in operator.get(reverse("admin:index")).text


# Filters


def test_it_is_filtered_by_person_kind_and_action(operator, ada):
    bob = User.objects.create_user("bob", is_staff=True)
    entry(ada, "by ada")
    entry(bob, "by bob")
    entry(bob, "a provider", model=Provider)
    entry(bob, "deleted", flag=DELETION)
    chore, provider = (ContentType.objects.get_for_model(m).pk for m in (Chore, Provider))

    assert names(operator, person=ada.pk) == ["by ada"]
    assert names(operator, kind=provider) == ["a provider"]
    assert names(operator, action_flag=DELETION) == ["deleted"]
    assert names(operator, person=bob.pk, kind=chore) == ["deleted", "by bob"]
    assert names(operator, person=ada.pk, kind=provider) == []


def test_the_command_line_and_deleted_users_can_be_chosen(operator, ada):
    audit.note(audit.command_line(), [ada], "Paused.")
    entry(ada, "by ada")
    ada_id = ada.pk
    ada.delete()

    filters = {each.parameter_name: each for each in operator.get(PAGE).context["cl"].filter_specs}
    offered = [name for _, name in filters["person"].lookup_choices]

    assert offered == [f"ada (deleted user {ada_id})", "command line", "operators"]


@pytest.mark.parametrize("value", ["x", "-1", "9" * 30, "０", "1'--"])
def test_values_that_no_filter_offers_find_nothing(operator, ada, value):
    entry(ada, "a")

    for name in ("person", "kind", "action_flag"):
        assert names(operator, **{name: value}) == []


def test_a_day_is_found_wherever_it_is_in_the_log(operator, ada):
    for ago in range(40, 0, -1):
        for number in range(3):
            entry(ada, f"{ago} {number}", ago=timedelta(days=ago))

    for ago in (40, 17, 1):
        found = names(
            operator,
            action_time_from=day(timedelta(days=ago)),
            action_time_to=day(timedelta(days=ago)),
        )
        assert found == [f"{ago} {number}" for number in (2, 1, 0)]
    since = day(timedelta(days=2))
    assert len(names(operator, action_time_from=since)) == 6
    assert names(operator, action_time_to=day(timedelta(days=41))) == []
    assert names(operator, action_time_from=day(timedelta(days=-1))) == []


def test_entries_of_servers_with_other_clocks_are_not_missed(operator, ada):
    """Their ids and their times differ in order."""
    entry(ada, "early", ago=timedelta(days=3))
    entry(ada, "late", ago=timedelta(days=3) - timedelta(minutes=30))
    entry(ada, "between", ago=timedelta(days=3) - timedelta(minutes=10))
    entry(ada, "today")

    found = names(operator, action_time_to=day(timedelta(days=2)))

    assert {"early", "late", "between"} <= set(found)


def test_an_empty_log_has_no_days(operator):
    assert names(operator, action_time_from="2020-01-01", action_time_to="2030-01-01") == []


def test_words_are_searched_in_actions_and_names(operator, ada):
    entry(ada, "Kyoto", change_message="Paused until resumed: repairs")
    entry(ada, "Nara")

    assert names(operator, q="REPAIRS") == ["Kyoto"]
    assert names(operator, q="nar") == ["Nara"]
    shown(operator, q="a\x00b")  # is no error


# Its cost


def test_the_number_of_queries_does_not_grow_with_the_log(operator, ada):
    jobs = [new_chore(f"chore {number}") for number in range(30)]
    audit.note(ada, jobs[:2], "Looked at.")
    shown(operator)
    with CaptureQueriesContext(connection) as few:
        shown(operator)
    audit.note(ada, jobs, "Looked at.")

    with CaptureQueriesContext(connection) as many:
        shown(operator)

    assert len(many) == len(few)


def test_no_query_counts_the_whole_log(operator, ada, monkeypatch):
    monkeypatch.setattr("jobs.console.counting.MANY", 5)
    monkeypatch.setattr("jobs.console.people.MANY", 5)
    for number in range(20):
        entry(ada, f"entry {number}", flag=DELETION if number < 10 else CHANGE)

    with CaptureQueriesContext(connection) as seen:
        operator.get(PAGE)
    counts = [query["sql"] for query in seen if "COUNT(" in query["sql"]]

    assert all("LIMIT 6" in sql for sql in counts)
    # Without an index, only the newest entries are looked at.
    assert names(operator, action_flag=DELETION) == []
    assert len(names(operator, person=ada.pk)) == 20
