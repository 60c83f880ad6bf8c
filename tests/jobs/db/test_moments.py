"""Times read from the database: the same values as Django's own loader gives, only sooner."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import DataError, connection

from jobs.db import moments

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif("connection.vendor != 'postgresql'", reason="only PostgreSQL has them"),
]


def read(text: str) -> datetime:
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s::timestamptz", [text])
        moment: datetime = cursor.fetchone()[0]
    return moment


@pytest.mark.parametrize("fraction", [0, 1, 120_000, 999_999])
def test_a_time_is_read_to_the_microsecond_in_utc(fraction):
    moment = datetime(2026, 11, 18, 15, 5, 24, fraction, tzinfo=UTC)

    assert read(moment.isoformat()) == moment
    assert read(moment.isoformat()).utcoffset() == timedelta(0)


def test_every_connection_reads_times_this_way():
    connection.ensure_connection()
    oid = connection.connection.adapters.types["timestamptz"].oid

    assert connection.connection.adapters.get_loader(oid, 0) is moments._loader()


def test_a_session_in_another_zone_reads_as_it_does_without_it():
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL TimeZone = 'Asia/Tokyo'")

    # Django gives the wall clock of the session the zone that it expects there.
    assert read("2026-11-18 15:05:24+00") == datetime(2026, 11, 19, 0, 5, 24, tzinfo=UTC)


def test_a_time_that_python_has_not_is_refused_as_ever():
    with pytest.raises(DataError, match="timestamp"):
        read("0044-03-15 00:00:00+00 BC")
