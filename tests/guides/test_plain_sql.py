"""A row that another program writes with plain SQL is valid, or the database refuses it."""

import sqlite3
from contextlib import closing

import pytest
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.utils import ConnectionHandler
from django.urls import reverse

from guides.models import Guide, SpotDetail, SpotImageJob

pytestmark = pytest.mark.django_db(transaction=True)

GOOD = ["a", "Kyoto_2-B", "0", "-", "x" * 100]
BAD = ["", " ", "a b", "a/b", "a" * 101, "旅", "a\n", "'"]


def insert(table, **columns):
    names, places = ", ".join(columns), ", ".join(["%s"] * len(columns))
    with connection.cursor() as cursor:
        cursor.execute(f"INSERT INTO {table} ({names}) VALUES ({places})", list(columns.values()))


def test_a_guide_inserted_with_its_id_and_title_alone_is_a_good_guide():
    insert("guides", plan_id="kyoto", title="Kyoto")

    guide = Guide.objects.get()
    guide.full_clean()
    assert (guide.destination, guide.summary, guide.picture_style) == ("", "", "")


def test_a_spot_inserted_with_its_guide_and_name_alone_is_a_good_spot(client):
    insert("guides", plan_id="kyoto", title="Kyoto")
    insert("spot_details", plan_id="kyoto", spot_name="Gate")

    spot = SpotDetail.objects.get()
    spot.full_clean()
    assert (spot.description, spot.position, spot.topic_tags) == ("", 0, [])
    assert (spot.image_url, spot.blur, spot.image_status) == ("", "", "not_started")
    assert b"Gate" in client.get(reverse("guide", args=["kyoto"])).content


def test_a_spot_inserted_by_plain_sql_gets_its_job_when_it_is_saved():
    insert("guides", plan_id="kyoto", title="Kyoto")
    insert("spot_details", plan_id="kyoto", spot_name="Gate")

    SpotDetail.objects.get().save()

    assert SpotImageJob.objects.get().spot_name == "Gate"


@pytest.mark.parametrize("plan_id", GOOD)
def test_the_database_takes_a_possible_plan_id(plan_id):
    insert("guides", plan_id=plan_id, title="Kyoto")

    Guide.objects.get().full_clean()


@pytest.mark.parametrize("plan_id", BAD)
def test_the_database_refuses_an_impossible_plan_id(plan_id):
    with pytest.raises(DatabaseError):
        insert("guides", plan_id=plan_id, title="Kyoto")


@pytest.fixture
def other_program(tmp_path):
    """A program that opens a SQLite file of guides and knows nothing of Django."""
    file = {"ENGINE": "django.db.backends.sqlite3", "NAME": tmp_path / "guides.sqlite3"}
    file["OPTIONS"] = {"init_command": "PRAGMA synchronous=OFF"}
    databases = ConnectionHandler({"default": file})
    executor = MigrationExecutor(databases["default"])
    executor.migrate(executor.loader.graph.leaf_nodes("guides"))
    databases.close_all()
    with closing(sqlite3.connect(file["NAME"])) as program:
        yield program


INSERT_GUIDE = "INSERT INTO guides (plan_id, title) VALUES (?, 'Kyoto')"


def test_another_program_inserts_guides_and_spots_into_sqlite(other_program):
    other_program.executemany(INSERT_GUIDE, [[plan_id] for plan_id in GOOD])
    other_program.execute("INSERT INTO spot_details (plan_id, spot_name) VALUES ('a', 'Gate')")

    assert other_program.execute("SELECT count(*) FROM guides").fetchone() == (len(GOOD),)
    assert other_program.execute("SELECT topic_tags FROM spot_details").fetchone() == ("[]",)


def test_sqlite_refuses_an_impossible_plan_id_of_another_program(other_program):
    for plan_id in BAD:
        with pytest.raises(sqlite3.IntegrityError, match="guide_plan_id"):
            other_program.execute(INSERT_GUIDE, [plan_id])
