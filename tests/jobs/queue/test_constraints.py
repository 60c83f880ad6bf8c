"""Nonsense written by hand is refused by the database itself."""

import uuid

import pytest
from django.db import IntegrityError, connection
from django.db.models.functions import Now

from jobs.models import Attempt
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_row_inserted_by_plain_sql_is_a_good_job(worker):
    id = uuid.uuid4()
    value = id.hex if connection.vendor == "sqlite" else id
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO chores (id, name) VALUES (%s, %s)", [value, "sweep"])

    job = worker.claim_one()

    assert (job.id, job.attempts, job.max_attempts, job.epoch) == (id, 0, 3, 1)


@pytest.mark.parametrize(
    "columns",
    [
        {"status": "done"},
        {"status": "processing"},
        {"status": "succeeded"},
        {"status": "failed"},
        {"attempts": -1},
        {"attempts": 4},
        {"max_attempts": 0},
        {"interruptions": -1},
        {"epoch": -1},
        {"locked_by": "me"},
        {"lease_expires_at": Now()},
        {"locked_at": Now()},
        {"finished_at": Now()},
        {"status": "processing", "locked_at": Now(), "locked_by": "me"},
        {"status": "canceled", "finished_at": Now(), "locked_by": "me"},
        {"status": None},
        {"run_after": None},
    ],
    ids=str,
)
def test_the_database_refuses(columns, chore):
    with pytest.raises(IntegrityError):
        Chore.objects.filter(id=chore.id).update(**columns)


def test_the_history_has_one_end_per_claim(chore):
    claim = {"job_id": chore.id, "epoch": 1, "kind": "testapp.Chore", "worker": "me"}
    Attempt.objects.create(**claim, started_at=Now(), outcome="lost")

    with pytest.raises(IntegrityError):
        Attempt.objects.create(**claim, started_at=Now(), outcome="succeeded")


def test_the_history_knows_only_its_outcomes(chore):
    with pytest.raises(IntegrityError):
        Attempt.objects.create(job_id=chore.id, epoch=1, started_at=Now(), outcome="eaten")


@pytest.mark.postgres
def test_job_tables_leave_room_for_beats():
    with connection.cursor() as cursor:
        cursor.execute("SELECT reloptions FROM pg_class WHERE relname = 'chores'")
        [[options]] = cursor.fetchall()

    assert "fillfactor=70" in options


@pytest.mark.postgres
def test_no_index_holds_the_lease():
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexdef FROM pg_indexes WHERE tablename = 'chores'")
        indexes = [definition for (definition,) in cursor.fetchall()]

    assert len(indexes) == 13
    assert not [index for index in indexes if "lease" in index]
