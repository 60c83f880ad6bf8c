"""New objects and those of rows: they are as Django would make them."""

from functools import wraps

import pytest
from django.db import models
from django.db.models.signals import post_init
from django.test.utils import isolate_apps

from jobs.db import compiled, making
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
    assert "id" not in making.defaults(Chore)  # made by a function
    assert "shelf_id" not in making.defaults(Pot)  # may be given as `shelf`


def test_an_unknown_column_is_refused():
    with pytest.raises(TypeError, match="colour"):
        Chore(colour="red")


@pytest.fixture
def first_chore(db):
    """A statement that returns objects, as a claim does, and the row that it finds."""
    chore = Chore.objects.create(script="sweep", progress={"done": 1})
    first = Chore.objects.with_ids(compiled.ids_of_first(Chore.objects.order_by("id")))
    statement = compiled.Returning(Chore, compiled.update(first, script="sweep"))
    return statement, Chore.objects.get(pk=chore.pk)


@pytest.mark.postgres
def test_the_object_of_a_row_is_as_django_would_make_it(first_chore):
    statement, djangos = first_chore

    [ours] = statement.update(1).objects

    assert making.is_plain(Chore)
    assert {**vars(ours), "_state": 0} == {**vars(djangos), "_state": 0}
    state = vars(djangos._state)
    assert {name: getattr(ours._state, name) for name in state} == state
    ours.script = "wash"
    ours.save()
    assert Chore.objects.get(pk=djangos.pk).script == "wash"


@pytest.mark.postgres
def test_whoever_listens_is_told_of_every_object(first_chore):
    statement, djangos = first_chore
    told = []

    def note(instance, **_):
        told.append(instance.pk)

    post_init.connect(note, sender=Chore)
    try:
        statement.update(1)
    finally:
        post_init.disconnect(note, sender=Chore)

    assert told == [djangos.pk]


class Meta:
    app_label = "testapp"
    proxy = True


def proxy(**more):
    """Chore, with something of its own."""
    return type("Curious", (Chore,), {"__module__": __name__, "Meta": Meta, **more})


@wraps(Chore.__init__)  # as libraries do that track the changes of an object
def tracked(self, *args, **kwargs):
    Chore.__init__(self, *args, **kwargs)


@pytest.mark.parametrize(
    "more",
    [
        {"__init__": tracked},
        {"__new__": lambda cls, *args, **kwargs: object.__new__(cls)},
        {"__setattr__": lambda self, name, value: object.__setattr__(self, name, value)},
        {"from_db": classmethod(lambda cls, *row: Chore.from_db(*row))},
    ],
)
def test_a_model_that_does_more_when_an_object_is_made_is_left_to_django(more):
    with isolate_apps("tests.testapp"):
        assert making.is_plain(proxy())
    with isolate_apps("tests.testapp"):
        assert not making.is_plain(proxy(**more))
