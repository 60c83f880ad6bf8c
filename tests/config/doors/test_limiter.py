"""Rows of the limiter, when several processes make and forget them at once."""

from datetime import timedelta

import pytest
from django.db import connection

from config.doors import limiter
from config.doors.limiter import Limit, Rule
from config.doors.models import Throttle

LIMIT = Limit(Rule("test", free=1, longest=timedelta(minutes=1)), "anna")


@pytest.mark.django_db
def test_a_row_that_was_there_and_is_forgotten_meanwhile_is_made_again(monkeypatch):
    inserts, insert = [], Throttle.objects.bulk_create

    def find_an_old_row_first(*rows, **options):
        inserts.append(rows)
        return insert(*rows, **options) if len(inserts) > 1 else []

    monkeypatch.setattr(Throttle.objects, "bulk_create", find_an_old_row_first)

    assert limiter.count(LIMIT) == limiter.NONE
    assert limiter.tries_of(LIMIT) == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("act", [lambda: limiter.count(LIMIT), lambda: limiter.spend("a", 1, 60)])
def test_forgetting_holds_no_row_while_others_are_counted(monkeypatch, act):
    inside = []
    monkeypatch.setattr(limiter, "forget_some", lambda: inside.append(connection.in_atomic_block))

    act()

    assert inside == [False]
