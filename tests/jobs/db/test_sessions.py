"""The limits of short transactions, which travel with their first statement."""

from datetime import timedelta

import pytest
from django.db import DataError, connection, transaction
from django.test.utils import CaptureQueriesContext
from psycopg.sql import SQL

from jobs.db import sessions
from jobs.db.sessions import Patience
from tests.testapp.models import Chore

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres]

PATIENCE = Patience(locks=timedelta(seconds=2), statements=timedelta(milliseconds=700))
LIMITS = "SELECT current_setting('lock_timeout'), current_setting('statement_timeout')"
OURS, NONE = ("2s", "700ms"), ("0", "0")


def limits():
    with connection.cursor() as cursor:
        cursor.execute(LIMITS)
        return cursor.fetchone()


def test_the_first_statement_has_the_limits_already():
    with sessions.short_transaction(PATIENCE):
        assert limits() == OURS
        assert limits() == OURS
    assert limits() == NONE


def test_the_limits_cost_no_statement():
    with CaptureQueriesContext(connection) as sent, sessions.short_transaction():
        limits()

    assert [each["sql"].split()[0] for each in sent] == ["BEGIN", "SELECT", "COMMIT"]


def test_one_statement_by_itself_has_limits_too():
    with sessions.with_patience(PATIENCE), sessions.short_statement():
        assert limits() == OURS
    assert limits() == NONE


def test_rows_that_come_with_the_limits_are_read_and_counted():
    Chore.objects.bulk_create([Chore(name="a"), Chore(name="b")])

    with sessions.short_transaction():
        names = list(Chore.objects.order_by("name").values_list("name", flat=True))
    with sessions.short_transaction():
        changed = Chore.objects.update(priority=1)

    assert (names, changed) == (["a", "b"], 2)


@pytest.mark.parametrize("first", ["many", "composed"])
def test_a_first_statement_that_can_take_nothing_along_has_the_limits(first):
    with sessions.short_transaction(PATIENCE):
        with connection.cursor() as cursor:
            if first == "many":
                cursor.executemany("SELECT %s", [[1], [2]])
            else:
                cursor.execute(SQL("SELECT {}").format(1))
        assert limits() == OURS


def test_the_limits_outlast_a_first_statement_that_fails():
    with sessions.short_transaction(PATIENCE):
        with pytest.raises(DataError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT 1 / 0")
        assert limits() == OURS


@pytest.fixture
def option(monkeypatch):
    """A connection with an option of Django's that this project does not use."""

    def set_option(options, name, value):
        monkeypatch.setitem(options, name, value)
        connection.close()

    yield set_option
    connection.close()


def test_values_that_travel_apart_from_the_text_leave_no_statement_without_limits(option):
    option(connection.settings_dict["OPTIONS"], "server_side_binding", True)

    with sessions.with_patience(PATIENCE), sessions.short_statement():
        assert limits() == OURS
    assert limits() == NONE


def test_a_cursor_of_the_server_as_the_first_statement_returns_its_own_rows(option):
    Chore.objects.bulk_create([Chore(name="a"), Chore(name="b")])
    option(connection.settings_dict, "DISABLE_SERVER_SIDE_CURSORS", False)

    with sessions.short_transaction(PATIENCE):
        names = {chore.name for chore in Chore.objects.iterator()}
        assert limits() == OURS

    assert names == {"a", "b"}
