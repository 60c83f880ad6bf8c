"""Every pair of states: along MOVES a job moves, anything else is refused."""

from itertools import product

import pytest
from django.db.models.functions import Now

from jobs.models import ENDED, Status
from jobs.queue import moves
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db(transaction=True)

HELD = {"locked_at": Now(), "locked_by": "me", "lease_expires_at": Now()}

ALLOWED = {
    ("queued", "processing"),
    ("queued", "canceled"),
    ("processing", "succeeded"),
    ("processing", "failed"),
    ("processing", "queued"),
    ("processing", "canceled"),
    ("succeeded", "queued"),
    ("failed", "queued"),
    ("canceled", "queued"),
}


@pytest.mark.parametrize(("origin", "target"), list(product(Status.values, repeat=2)))
def test_every_pair_of_states(chore, origin, target):
    put_into(chore, origin)

    moved = moves.move(Chore.objects.all(), Status(target), **(held_if(target)))

    assert moved == ((origin, target) in ALLOWED)
    assert Chore.objects.get().status == (target if moved else origin)


def put_into(chore, status):
    finished_at = Now() if status in ENDED else None
    Chore.objects.update(status=status, finished_at=finished_at, **held_if(status))


def held_if(status):
    return HELD if status == Status.PROCESSING else {}
