"""Objects of a model, made in a part of the time that Django takes.

Django asks every column anew for its default, and makes a new placeholder for each value that the
database fills in. That took two thirds of the time in which a new object is made. Nothing changes
a placeholder, so all objects of a model can share it. To make the object of a row that was read,
Django sets each column by itself and sends two signals, which hardly any program listens to.
"""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, TypeVar

from django.db.models import NOT_PROVIDED, Field, Model
from django.db.models.base import ModelState
from django.db.models.expressions import DatabaseDefault
from django.db.models.query_utils import DeferredAttribute
from django.db.models.signals import post_init, pre_init

ModelT = TypeVar("ModelT", bound=Model)
Init = TypeVar("Init", bound=Callable[..., None])


# New objects


@cache
def defaults(model: type[Model]) -> dict[str, Any]:
    """The values that every new object of this model has where none is given."""
    fields = model._meta.concrete_fields
    plain = [each for each in fields if not (each.remote_field or each.generated)]
    return {field.attname: field.get_default() for field in plain if _is_constant(field)}


def _is_constant(field: "Field[Any, Any]") -> bool:
    if field.default is NOT_PROVIDED:
        return field.null or isinstance(field.get_default(), DatabaseDefault)
    return isinstance(field.default, str | int | float)  # no callable, nothing that can change


# Objects of rows

_PLAIN_INITS: set[Any] = {Model.__init__}


def only_for_new_ones(init: Init) -> Init:
    """Mark an `__init__` that does nothing more than Django's if it is given all columns."""
    _PLAIN_INITS.add(init)
    return init


def is_plain(model: type[Model]) -> bool:
    """Whether making the object of a row sets its columns and does nothing else."""
    heard = pre_init.has_listeners(model) or post_init.has_listeners(model)
    return not heard and _only_sets_columns(model)


@cache
def _only_sets_columns(model: type[Model]) -> bool:
    own: Any = model
    djangos: Any = Model
    is_djangos = own.from_db.__func__ is djangos.from_db.__func__
    is_pythons = own.__new__ is object.__new__ and own.__setattr__ is object.__setattr__
    columns = [getattr(model, field.attname) for field in model._meta.concrete_fields]
    are_plain = all(type(column) is DeferredAttribute for column in columns)
    return own.__init__ in _PLAIN_INITS and is_djangos and is_pythons and are_plain


def of_row(model: type[ModelT], db: str, names: Iterable[str], row: Iterable[Any]) -> ModelT:
    """The object of a row with all columns, if the model `is_plain`."""
    made = model.__new__(model)
    made.__dict__.update(zip(names, row, strict=True))
    made._state = state = ModelState()
    state.adding, state.db = False, db
    return made
