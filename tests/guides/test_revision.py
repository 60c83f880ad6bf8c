"""The revision of guides: it changes with every row that their pages show."""

import pytest
from django.db import OperationalError, connection, transaction

from guides import revision
from guides.models import Guide, SpotDetail, SpotImageJob
from guides.translation.models import GuideTranslation
from guides.writing.models import Manuscript
from jobs.db import sessions
from jobs.models import Provider, Worker
from tests.guides.pages import new_guide
from tests.guides.withdrawing import withdraw

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


@pytest.fixture(autouse=True)
def guides():
    new_guide("Gate", "Hall")
    new_guide("Tower", plan_id="tokyo")


def by_sql(statement):
    with connection.cursor() as cursor:
        cursor.execute(statement)


def add_translation():
    GuideTranslation.objects.create(guide_id="kyoto", language="ja", key="title", text="京都")


CHANGES = {
    "guide": lambda: Guide.objects.filter(pk="kyoto").update(title="Nara"),
    "same": lambda: by_sql("UPDATE guides SET title = title WHERE plan_id = 'kyoto'"),
    "withdrawn": withdraw,
    "picture": lambda: SpotDetail.objects.filter(spot_name="Gate").update(image_url="/a.webp"),
    "renamed": lambda: by_sql("UPDATE spot_details SET spot_name = 'X' WHERE spot_name = 'Hall'"),
    "added": lambda: SpotDetail.objects.create(guide_id="kyoto", spot_name="Garden"),
    "deleted": lambda: by_sql("DELETE FROM spot_details WHERE spot_name = 'Hall'"),
    "job": lambda: SpotImageJob.objects.filter(spot_name="Gate").update(priority=1),
    "writing": lambda: Manuscript.objects.create(guide_id="kyoto", language="en"),
    "translation": add_translation,
    "all": lambda: Guide.objects.get(pk="kyoto").delete(),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_it_changes_with_every_row_of_the_guide(change):
    before = revision.of_guides(["kyoto"]), revision.of_newest(24)

    change()

    after = revision.of_guides(["kyoto"]), revision.of_newest(24)
    assert all(was != now for was, now in zip(before, after, strict=True))


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_it_stays_while_only_another_guide_changes(change):
    before = revision.of_guides(["tokyo"])

    change()

    assert revision.of_guides(["tokyo"]) == before


def test_it_stays_while_workers_and_providers_change():
    before = revision.of_guides(["kyoto"])

    Provider.objects.create(name="a", paused=True)
    Worker.objects.all().delete()

    assert revision.of_guides(["kyoto"]) == before


def test_two_changes_in_one_transaction_are_two():
    found = set()
    with transaction.atomic():
        for title in ("Nara", "Kyoto", "Nara"):
            Guide.objects.filter(pk="kyoto").update(title=title)
            found.add(revision.of_guides(["kyoto"]))

    assert len(found) == 3


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_was_lost_since_the_last_request_is_replaced():
    before = revision.of_guides(["kyoto"])
    lost = connection.connection.info.backend_pid
    sessions.elsewhere(f"SELECT pg_terminate_backend({lost}, 5000)")

    assert revision.of_guides(["kyoto"]) == before
    assert connection.connection.info.backend_pid != lost


@pytest.mark.django_db(transaction=True)
def test_a_query_that_the_database_ended_is_not_repeated(monkeypatch):
    """It would keep the visitor waiting twice as long."""
    asked = []

    def too_slow(*arguments):
        asked.append(arguments)
        raise OperationalError("canceling statement due to statement timeout")

    monkeypatch.setattr("guides.revision.fetch", too_slow)

    with pytest.raises(OperationalError):
        revision.of_guides(["kyoto"])
    assert len(asked) == 1


def test_it_is_one_query(django_assert_num_queries):
    with django_assert_num_queries(1):
        revision.of_guides(["kyoto", "tokyo"])
    with django_assert_num_queries(1):
        revision.of_newest(24)


@pytest.mark.parametrize("plan_id", ["", "a b", "\0", "x" * 200, "京都"])
def test_what_is_no_plan_id_has_none(plan_id, django_assert_num_queries):
    with django_assert_num_queries(0):
        assert revision.of_guides([plan_id]) == ""


def test_an_unknown_guide_has_one_too():
    before = revision.of_guides(["nara"])

    new_guide("Deer", plan_id="nara")

    assert before
    assert revision.of_guides(["nara"]) != before


@pytest.mark.django_db(transaction=True)
def test_a_database_that_is_away_is_asked_once(monkeypatch):
    asked = []

    def away(*arguments):
        asked.append(arguments)
        connection.close()
        raise OperationalError("connection refused")

    monkeypatch.setattr("guides.revision.fetch", away)

    with pytest.raises(OperationalError):
        revision.of_guides(["kyoto"])
    assert len(asked) == 1


@pytest.mark.django_db(transaction=True)
def test_before_migrate_there_is_no_revision_and_the_log_says_so_once(monkeypatch, caplog):
    monkeypatch.setattr("guides.revision.OF_THESE", "SELECT guides_revision_of_tomorrow(%s)")
    revision.tell_once.cache_clear()

    assert [revision.of_guides(["kyoto"]), revision.of_guides(["kyoto"])] == ["", ""]
    assert [line.message for line in caplog.records] == [
        "No page is kept: the database has no function guides_revision. Run `migrate`."
    ]
