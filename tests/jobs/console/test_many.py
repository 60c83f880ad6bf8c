"""Actions on many jobs: previewed first, done in chunks, counted."""

from decimal import Decimal

import pytest
from django.contrib.admin.models import LogEntry
from django.db import OperationalError
from django.db.models.functions import Now

from jobs import queue
from jobs.console import actions
from jobs.models import Call, Provider, Status
from jobs.paid import limits
from tests.jobs.conftest import new_chore
from tests.jobs.console.pages import LIST, choose, confirm, do_to_many, in_state, press, statuses
from tests.testapp.models import Chore, NoopJob

pytestmark = pytest.mark.django_db(transaction=True)


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
    assert "Not changed, because they are succeeded: 1." in page
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
    assert "Not changed, because they are succeeded: 1." in page.text
    assert "Not changed, because they are queued" not in page.text  # the action itself queued them
    assert sorted(statuses().values()) == ["queued"] * 6 + ["succeeded"]


def in_pieces(monkeypatch, size, seconds=0.0):
    monkeypatch.setattr("jobs.admin.acting.SECONDS", seconds)
    monkeypatch.setattr(queue, "CHUNK", size)


def busy_at(monkeypatch, *numbers):
    """Let the database be busy in these calls of requeue, counted from 1."""
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

    assert "The database was busy. Nothing was changed." in page.text
    assert statuses() == {"a": "failed"}


def test_who_fails_again_meanwhile_is_not_requeued_twice():
    """Otherwise a job that fails every time would keep the operator's page busy for ever."""
    first, _ = in_state(Status.FAILED, "a", "b")

    result = actions.carry_out(
        actions.ACTIONS["requeue"], Chore.objects.all(), "me", after=first.id
    )

    assert result.changed == 1
    assert statuses() == {"a": "failed", "b": "queued"}


def test_the_preview_says_about_what_it_costs(operator, monkeypatch):
    """A stored answer does not lower the estimate: it may belong to an older picture."""
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

    assert "It costs about <b>0.12 USD</b>, at 0.04 USD each" in page
    assert "5.00 USD is left of today's budget." in page


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"price": "0.04"}, "about <b>0.08 USD</b>, at 0.04 USD each"),
        ({"price": "0.04", "strategy": "batch"}, "about <b>0.04 USD</b>, at 0.02 USD each"),
        ({"price": "0.04", "input_price": 1}, "Tokens are paid for beside that."),
        ({"input_price": 1}, "depends on the tokens of each call"),
        ({}, "is not set, so the cost is unknown"),
    ],
)
def test_the_preview_knows_batches_and_tokens(operator, monkeypatch, columns, told):
    monkeypatch.setattr(Chore, "provider_name", classmethod(lambda cls: "gemini:flash"))
    limits.find("gemini:flash")
    Provider.objects.update(**columns)

    page = choose(operator, "requeue", *in_state(Status.FAILED, *"ab")).text

    assert told in page
    assert ("Tokens are paid for" in page) == (len(columns) == 2 and "input_price" in columns)


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"daily_budget": "0.10"}, "Only 0.10 USD is left of today's budget."),
        ({"daily_budget": None}, "No budget limits what is spent today."),
    ],
)
def test_the_preview_compares_with_what_is_left_today(operator, monkeypatch, columns, told):
    monkeypatch.setattr(Chore, "provider_name", classmethod(lambda cls: "dear"))
    limits.find("dear")
    Provider.objects.update(price=Decimal("0.04"), **columns)

    page = choose(operator, "requeue", *in_state(Status.FAILED, *"abc")).text

    assert told in page


def test_an_action_that_nobody_counted_to_its_end_is_beyond_any_budget(operator, monkeypatch):
    monkeypatch.setattr(Chore, "provider_name", classmethod(lambda cls: "dear"))
    monkeypatch.setattr("jobs.console.counting.MANY", 3)
    monkeypatch.setattr("jobs.console.actions.MANY", 3)
    limits.find("dear")
    Provider.objects.update(price=Decimal("0.04"), daily_budget=Decimal("0.15"))

    page = choose(operator, "requeue", *in_state(Status.FAILED, *"abcde")).text

    assert "It costs about <b>0.12 USD</b>" in page  # the first three
    assert "Only 0.15 USD is left of today's budget." in page


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
