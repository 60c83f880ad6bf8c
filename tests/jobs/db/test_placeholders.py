"""New objects: their columns have the values that Django's own __init__ would give them."""

import pytest
from django.db import models

from jobs.db import placeholders
from tests.testapp.models import Chore, Hooked, Pot


def test_a_new_job_has_the_same_columns_as_django_would_give_it():
    by_us, by_django = Hooked(fails=True), Hooked.__new__(Hooked)
    models.Model.__init__(by_django, fails=True)

    ours, djangos = vars(by_us), vars(by_django)
    assert ours.keys() == djangos.keys()
    assert [name for name in ours if ours[name] != djangos[name]] == ["_state", "id"]


def test_given_values_win():
    chore = Chore(priority=3, script="sweep")

    assert (chore.priority, chore.script, chore.attempts) == (3, "sweep", 0)


def test_every_job_has_an_id_of_its_own():
    assert Chore().id != Chore().id


def test_what_each_object_needs_of_its_own_is_not_shared():
    assert "id" not in placeholders.defaults(Chore)  # made by a function
    assert "shelf_id" not in placeholders.defaults(Pot)  # may be given as `shelf`


def test_an_unknown_column_is_refused():
    with pytest.raises(TypeError, match="colour"):
        Chore(colour="red")
