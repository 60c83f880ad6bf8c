"""What operators do to jobs: one at once, many after a preview, all of it written down."""

from decimal import Decimal

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.db import OperationalError
from django.db.models.functions import Now
from django.urls import reverse

from jobs import queue
from jobs.console import actions
from jobs.models import Call, Provider, Status
from jobs.paid import limits
from tests.jobs.conftest import new_chore
from tests.jobs.console import in_state, log_in, statuses
from tests.testapp.models import Chore, NoopJob

pytestmark = pytest.mark.django_db(transaction=True)

LIST = reverse("admin:testapp_chore_changelist")


@pytest.fixture
def operator(client):
    return log_in(client, "operators")


def press(client, action, job):
    url = reverse("admin:testapp_chore_act", args=[job.id, action])
    return client.post(url, follow=True)


def choose(client, action, *jobs, query="", **more):
    data = {"action": action, "_selected_action": [job.id for job in jobs], **more}
    return client.post(LIST + query, data, follow=True)


def confirm(client, page, action, query=""):
    """Press the button of a preview, or of a page that goes on."""
    carried = {}
    for name, value in page.context["hidden"]:
        carried.setdefault(name, []).append(value)
    assert carried["action"] == [action]
    return client.post(LIST + query, carried, follow=True)


def do_to_many(client, action, *jobs, query="", **more):
    page = choose(client, action, *jobs, query=query, **more)
    return confirm(client, page, action, query=query)


# One


@pytest.mark.parametrize(
    ("action", "origin", "target"),
    [
        ("requeue", Status.FAILED, Status.QUEUED),
        ("requeue", Status.CANCELED, Status.QUEUED),
        ("requeue", Status.SUCCEEDED, Status.SUCCEEDED),  # never by mistake
        ("requeue", Status.PROCESSING, Status.PROCESSING),
        ("requeue_first", Status.FAILED, Status.QUEUED),
        ("rerun", Status.SUCCEEDED, Status.QUEUED),
        ("cancel", Status.QUEUED, Status.CANCELED),
        ("cancel", Status.PROCESSING, Status.CANCELED),
        ("cancel", Status.SUCCEEDED, Status.SUCCEEDED),
        ("remove", Status.QUEUED, Status.QUEUED),
    ],
)
def test_a_button_does_what_it_says_and_nothing_else(operator, action, origin, target):
    [job] = in_state(origin, "sweep")

    assert press(operator, action, job).status_code == 200

    assert statuses() == {"sweep": target}


def test_an_ended_job_is_deleted_and_that_is_remembered(operator):
    [job] = in_state(Status.FAILED, "sweep")

    press(operator, "remove", job)

    assert not Chore.objects.exists()
    assert LogEntry.objects.get(object_id=str(job.id)).change_message == "Deleted."


def test_who_did_it_stands_on_the_page_of_the_job(operator):
    [job] = in_state(Status.FAILED, "sweep")

    page = press(operator, "requeue", job)

    entry = LogEntry.objects.get()
    assert (entry.user.username, entry.change_message) == ("operators", "Requeued.")
    assert "What people did" in page.text
    assert "Requeued." in page.text


def test_an_action_without_an_effect_is_not_written_down(operator):
    [job] = in_state(Status.SUCCEEDED, "sweep")

    press(operator, "requeue", job)

    assert not LogEntry.objects.exists()


# Who may


@pytest.mark.parametrize("action", sorted(actions.ACTIONS))
def test_a_viewer_is_refused_even_if_the_request_is_made_by_hand(client, action):
    viewer = log_in(client, "viewers")
    [failed] = in_state(Status.FAILED, "a")
    [queued] = in_state(Status.QUEUED, "b")

    assert press(viewer, action, failed).status_code == 403
    assert press(viewer, action, queued).status_code == 403
    choose(viewer, action, failed, queued, before="2099-01-01T00:00:00+00:00")

    assert statuses() == {"a": "failed", "b": "queued"}


def test_who_may_requeue_may_not_therefore_delete(client):
    user = User.objects.create_user("half", is_staff=True)
    user.user_permissions.add(
        *Permission.objects.filter(codename__in=["view_chore", "change_chore"])
    )
    client.force_login(user)
    [job] = in_state(Status.FAILED, "sweep")

    assert press(client, "remove", job).status_code == 403
    choose(client, "remove", job)
    assert Chore.objects.exists()
    press(client, "requeue", job)
    assert statuses() == {"sweep": "queued"}


@pytest.mark.parametrize("action", sorted(actions.ACTIONS))
def test_nothing_is_done_by_get(operator, action):
    [job] = in_state(Status.FAILED, "sweep")

    answer = operator.get(reverse("admin:testapp_chore_act", args=[job.id, action]))

    assert answer.status_code == 405
    assert statuses() == {"sweep": "failed"}


def test_nothing_is_done_without_the_token(client, django_user_model):
    from django.test import Client

    strict = Client(enforce_csrf_checks=True)
    strict.force_login(django_user_model.objects.create_superuser("root"))
    [job] = in_state(Status.FAILED, "sweep")

    assert press(strict, "requeue", job).status_code == 403
    assert choose(strict, "requeue", job).status_code == 403
    assert statuses() == {"sweep": "failed"}


def test_an_action_that_does_not_exist_is_not_found(operator):
    [job] = in_state(Status.FAILED, "sweep")

    assert press(operator, "nonsense", job).status_code == 404


# Many


def test_many_are_shown_before_anything_is_done(operator):
    failed = in_state(Status.FAILED, "a", "b")
    done = in_state(Status.SUCCEEDED, "c")

    page = choose(operator, "requeue", *failed, *done).text

    assert "<b>2</b> chores will be changed." in page
    assert "1 succeeded" in page
    assert statuses() == {"a": "failed", "b": "failed", "c": "succeeded"}


def test_after_the_preview_they_are_done_and_counted(operator):
    failed = in_state(Status.FAILED, "a", "b")
    done = in_state(Status.SUCCEEDED, "c")

    page = do_to_many(operator, "requeue", *failed, *done).text

    assert statuses() == {"a": "queued", "b": "queued", "c": "succeeded"}
    assert "Jobs queued again: 2." in page
    assert "Left alone because they are succeeded: 1." in page
    assert LogEntry.objects.filter(object_id=None, object_repr="2 chores").count() == 1
    assert LogEntry.objects.exclude(object_id=None).count() == 2


def test_all_that_match_are_meant_and_not_only_this_page(operator, monkeypatch):
    monkeypatch.setattr("jobs.admin.base.ReadOnlyAdmin.list_per_page", 2)
    jobs = in_state(Status.FAILED, *"abcde")
    in_state(Status.CANCELED, "other")

    query = "?status__exact=failed"
    do_to_many(operator, "requeue", jobs[0], query=query, select_across="1")

    assert statuses() == {**dict.fromkeys("abcde", "queued"), "other": "canceled"}


@pytest.mark.parametrize("word", ["1", "true", "on"])
def test_all_that_match_are_shown_first_by_whatever_word_they_are_chosen(operator, word):
    job, *_ = in_state(Status.FAILED, *"abc")

    page = choose(operator, "requeue", job, select_across=word).text

    assert "<b>3</b> chores will be changed." in page
    assert set(statuses().values()) == {"failed"}


def test_who_fails_after_the_preview_was_not_shown_and_is_left_alone(operator):
    shown = in_state(Status.FAILED, "a", "b")
    page = choose(operator, "requeue", shown[0], select_across="1")
    in_state(Status.FAILED, *"cdefg")

    done = confirm(operator, page, "requeue").text

    assert "Jobs queued again: 2." in done
    assert statuses() == {**dict.fromkeys("ab", "queued"), **dict.fromkeys("cdefg", "failed")}


def test_who_is_enqueued_after_the_preview_is_not_canceled(operator):
    shown = [new_chore("a"), new_chore("b")]
    page = choose(operator, "cancel", shown[0], select_across="1")
    new_chore("c")

    confirm(operator, page, "cancel")

    assert statuses() == {"a": "canceled", "b": "canceled", "c": "queued"}


def test_when_time_is_up_the_rest_goes_on_where_it_stopped(operator, monkeypatch):
    jobs = in_state(Status.FAILED, *"abcdef") + in_state(Status.SUCCEEDED, "g")
    in_pieces(monkeypatch, 2)

    page = do_to_many(operator, "requeue", *jobs)

    assert "<b>2</b> done, <b>4</b> left." in page.text
    assert sorted(statuses().values()) == ["failed"] * 4 + ["queued"] * 2 + ["succeeded"]
    page = confirm(operator, page, "requeue")
    page = confirm(operator, page, "requeue")
    assert "Jobs queued again: 6." in page.text
    assert "Left alone because they are succeeded: 1." in page.text
    assert "Left alone because they are queued" not in page.text  # its own doing
    assert sorted(statuses().values()) == ["queued"] * 6 + ["succeeded"]


def in_pieces(monkeypatch, size, seconds=0.0):
    monkeypatch.setattr(actions.carry_out, "__defaults__", (None, seconds))
    monkeypatch.setattr(actions._ids, "__defaults__", (size,))


def busy_at(monkeypatch, *numbers):
    """Let the database be busy when jobs are requeued for the first, second ... time."""
    requeue, times = queue.requeue, iter(range(1, 99))

    def maybe(*args, **options):
        if next(times) in numbers:
            raise OperationalError("database is locked")
        return requeue(*args, **options)

    monkeypatch.setattr(queue, "requeue", maybe)


@pytest.mark.parametrize(
    ("number", "told"), [(1, "<b>0</b> done, <b>4</b> left."), (2, "<b>2</b> done, <b>2</b> left.")]
)
def test_after_a_passing_fault_of_the_database_it_goes_on(operator, monkeypatch, number, told):
    jobs = in_state(Status.FAILED, *"abcd")
    in_pieces(monkeypatch, 2, seconds=60.0)
    busy_at(monkeypatch, number)

    page = do_to_many(operator, "requeue", *jobs)

    assert told in page.text
    page = confirm(operator, page, "requeue")
    assert "Jobs queued again: 4." in page.text
    assert set(statuses().values()) == {"queued"}


def test_a_button_says_that_the_database_was_busy(operator, monkeypatch):
    [job] = in_state(Status.FAILED, "a")
    busy_at(monkeypatch, 1)

    page = press(operator, "requeue", job)

    assert "The database was busy, so nothing was changed just now." in page.text
    assert statuses() == {"a": "failed"}


def test_who_fails_again_meanwhile_is_not_requeued_twice():
    """Else a cause that is not mended would keep the operator's page busy for ever."""
    first, _ = in_state(Status.FAILED, "a", "b")

    result = actions.carry_out(
        actions.ACTIONS["requeue"], Chore.objects.all(), "me", after=first.id
    )

    assert result.changed == 1
    assert statuses() == {"a": "failed", "b": "queued"}


def test_the_preview_says_about_what_it_costs(operator, monkeypatch):
    """A stored answer is no discount: it may answer what was asked for an older picture."""
    monkeypatch.setattr(Chore, "provider_name", classmethod(lambda cls: "dear"))
    limits.find("dear")
    Provider.objects.update(price=Decimal("0.04"))
    jobs = in_state(Status.FAILED, *"abc")
    Call.objects.create(
        provider="dear",
        job_id=jobs[0].id,
        kind="testapp.Chore",
        epoch=1,
        key="k",
        number=1,
        state="stored",
        deadline=Now(),
    )

    page = choose(operator, "requeue", *jobs).text

    assert "It costs about <b>0.12</b>, at 0.0400 each" in page


@pytest.mark.parametrize(
    ("name", "told"),
    [("painter", "It costs nothing."), ("gemini:flash", "The price of gemini:flash is not set")],
)
def test_only_who_takes_no_money_costs_nothing(operator, monkeypatch, name, told):
    monkeypatch.setattr(Chore, "provider_name", classmethod(lambda cls: name))
    jobs = in_state(Status.FAILED, *"ab")

    page = choose(operator, "requeue", *jobs).text

    assert told in page
    assert ("costs nothing" in page) == (name == "painter")


# Scale


def test_beyond_ten_thousand_nobody_counts(admin_client, monkeypatch):
    monkeypatch.setattr("jobs.console.counting.MANY", 20)
    queue.enqueue(NoopJob() for _ in range(25))

    numbers = actions.preview(actions.ACTIONS["cancel"], NoopJob.objects.all()).numbers

    assert str(numbers[Status.QUEUED]) == "more than 20"
    assert int(numbers[Status.QUEUED]) == 21


def test_a_list_says_that_there_are_more(admin_client, monkeypatch):
    monkeypatch.setattr("jobs.console.counting.MANY", 3)
    monkeypatch.setattr("jobs.admin.base.ReadOnlyAdmin.list_per_page", 2)
    in_state(Status.FAILED, *"abcde")

    page = admin_client.get(LIST)

    assert "more than 3" in page.text
    assert page.context["cl"].paginator.num_pages == 2
