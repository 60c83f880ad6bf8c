"""Pages are kept in memory, and yet everybody sees what is true now, and only what is for them."""

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.db.models.functions import Now
from django.test import Client

from config.kept import LEAST_SECONDS
from guides import pages, services
from guides.models import Guide, SpotDetail, SpotImageJob
from guides.translation import texts
from guides.translation.models import GuideTranslation
from tests.guides.pages import OURS, finish, home_address, new_guide, poll_address
from tests.guides.withdrawing import withdraw

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

PAGE, STATUS = "/guides/kyoto/", "/api/guides/kyoto/status/"


@pytest.fixture(autouse=True)
def keeps(settings, page_clock):
    settings.PAGE_MEMORY_MB = 32


@pytest.fixture(autouse=True)
def guide():
    return new_guide("Gate", "Hall")


def polled(client):
    return poll_address(client.get(PAGE).text)


def addresses(client):
    poll, cards = polled(client), home_address(client.get("/").text)
    return ["/", PAGE, f"{PAGE}?lang=ja", poll, cards, STATUS]


def test_the_second_visitor_costs_one_query(client, django_assert_num_queries):
    for address in addresses(client):
        first = client.get(address)

        with django_assert_num_queries(1):
            again = Client().get(address)

        assert (again.status_code, again.content) == (first.status_code, first.content), address
        told = {name: value for name, value in first.headers.items() if name != "Expires"}
        assert again.headers.items() >= told.items(), address


def test_an_unchanged_page_and_status_cost_one_query(client, django_assert_num_queries):
    for address in (PAGE, STATUS):
        etag = client.get(address).headers["ETag"]
        client.get(address, headers={"If-None-Match": etag})

        with django_assert_num_queries(1):
            answer = Client().get(address, headers={"If-None-Match": etag})

        assert (answer.status_code, answer.headers["ETag"], answer.content) == (304, etag, b"")


def test_a_picture_is_on_the_page_at_once(client):
    client.get(PAGE)
    client.get("/")
    poll = polled(client)
    nothing_new = client.get(poll)
    etag = client.get(STATUS).headers["ETag"]

    finish("Gate")

    assert nothing_new.status_code == 204
    assert OURS in client.get(PAGE).text
    assert OURS in client.get("/").text
    assert OURS in client.get(poll).text
    assert OURS in client.get(STATUS, headers={"If-None-Match": etag}).text


def test_a_picture_that_arrives_while_the_page_is_rendered_is_not_missed(client, monkeypatch):
    """The page was rendered without it, and must not be kept as the one that has it."""

    def late(*arguments):
        response = answer(*arguments)
        finish("Gate")
        return response

    answer = pages.answer
    monkeypatch.setattr("guides.pages.answer", late)
    before = client.get(PAGE).text
    monkeypatch.setattr("guides.pages.answer", answer)

    assert OURS not in before
    assert OURS in client.get(PAGE).text


def test_a_withdrawn_guide_is_gone_at_once(client):
    shown = addresses(client)
    for address in shown:
        client.get(address)

    withdraw()

    assert client.get(PAGE).status_code == 410
    assert client.get(STATUS).status_code == 410
    assert "Kyoto" not in client.get("/").text
    polled = client.get(shown[3], headers={"HX-Request": "true"})
    assert (polled.status_code, polled.headers["HX-Refresh"]) == (286, "true")


def test_a_guide_that_came_back_is_shown_at_once(client):
    client.get(PAGE)
    withdraw()
    client.get(PAGE)

    Guide.objects.update(withdrawn_at=None)

    assert client.get(PAGE).status_code == 200


def test_a_deleted_guide_is_gone_at_once(client):
    for address in (PAGE, STATUS, "/"):
        client.get(address)

    Guide.objects.get().delete()

    assert [client.get(address).status_code for address in (PAGE, STATUS)] == [404, 404]
    assert "Kyoto" not in client.get("/").text


def test_a_new_guide_is_on_home_at_once(client):
    client.get("/")

    new_guide("Deer", plan_id="nara", summary="Deer bow.")

    assert "Deer bow." in client.get("/").text


def test_a_spot_renamed_by_plain_sql_is_shown_at_once(client):
    finish("Gate")
    finish("Hall")
    client.get(PAGE)

    with connection.cursor() as cursor:
        cursor.execute("UPDATE spot_details SET spot_name = 'Bridge' WHERE spot_name = 'Hall'")

    assert "Bridge" in client.get(PAGE).text


def test_a_translation_is_shown_as_soon_as_it_is_there(client):
    japanese = f"{PAGE}?lang=ja"
    client.get(japanese)
    guide = Guide.objects.get()
    source = texts.source_of(guide, "title")

    GuideTranslation.objects.create(
        guide=guide, language="ja", key="title", text="京の都", source_hash=source.hash
    )

    assert "京の都" in client.get(japanese).text
    assert "京の都" not in client.get(PAGE).text


@pytest.mark.parametrize("address", ["/", PAGE, STATUS])
def test_every_language_has_its_own(client, address):
    english = client.get(address)
    japanese = client.get(address, headers={"Accept-Language": "ja"})
    again = client.get(address)

    assert english.headers["Content-Language"] == again.headers["Content-Language"] == "en"
    assert japanese.headers["Content-Language"] == "ja"
    assert english.headers["ETag"] == again.headers["ETag"] != japanese.headers["ETag"]
    assert "Accept-Language" in again.headers["Vary"]


@pytest.mark.parametrize("address", ["/", PAGE])
def test_the_links_of_staff_are_never_kept_for_visitors(client, address):
    user = User.objects.create_user("mika", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=["add_guide", "change_guide"]))
    staff = Client()
    staff.force_login(user)

    client.get(address)
    theirs = staff.get(address)
    ours = client.get(address)

    assert "/admin/" in theirs.text
    assert "/admin/" not in ours.text
    assert theirs.headers["Cache-Control"] == "private, no-cache"
    assert "Cookie" in ours.headers["Vary"]
    assert not ours.cookies


def test_links_lead_to_the_host_that_was_asked(client, settings):
    settings.ALLOWED_HOSTS = ["one.example.org", "two.example.org"]
    client.get(PAGE, headers={"Host": "one.example.org"})

    page = client.get(PAGE, headers={"Host": "two.example.org"}).text

    assert "two.example.org/guides/kyoto/" in page
    assert "one.example.org" not in page


def test_a_refused_host_gets_nothing_kept(client, settings):
    client.get(PAGE)
    settings.ALLOWED_HOSTS = ["tabie.example.org"]

    assert client.get(PAGE).status_code == 400


def test_two_pages_that_show_different_states_get_what_each_of_them_misses(client):
    old = polled(client)
    finish("Gate")
    newer = polled(client)
    for address in (old, newer, old, newer):
        client.get(address)

    assert OURS in client.get(old).text
    assert client.get(newer).status_code == 204


def test_the_last_picture_ends_the_polling(client):
    poll = polled(client)
    client.get(poll)
    finish("Gate")
    finish("Hall")

    answer = client.get(poll)

    assert answer.status_code == 286
    assert "hx-get" not in answer.text
    assert client.get(poll).status_code == 286


def test_what_the_clock_changes_is_at_most_a_second_old(client, page_clock, monkeypatch):
    monkeypatch.setattr("guides.status.GuideStatus.time_left", "about 2 minutes left")
    client.get(PAGE)
    monkeypatch.setattr("guides.status.GuideStatus.time_left", "a few seconds left")
    soon = client.get(PAGE).text
    page_clock.now = LEAST_SECONDS + 0.1

    later = client.get(PAGE).text

    assert "about 2 minutes left" in soon
    assert "a few seconds left" in later


def test_further_pages_of_home_are_always_new(client, monkeypatch):
    monkeypatch.setattr("guides.pages.GUIDES_PER_PAGE", 1)
    new_guide("Deer", plan_id="nara")
    client.get("/?page=2")

    Guide.objects.filter(pk="kyoto").update(title="Old Kyoto")

    assert "Old Kyoto" in client.get("/?page=2").text


def test_a_job_that_ends_without_a_picture_is_told_at_once(client):
    client.get(PAGE)
    poll = polled(client)
    client.get(poll)

    SpotImageJob.objects.update(status="failed", finished_at=Now())
    SpotDetail.objects.update(image_status="failed")

    assert client.get(poll).status_code == 286
    assert "hx-get" not in client.get(PAGE).text


def test_an_address_with_a_nul_is_not_found(client):
    assert client.get("/guides/%00/").status_code == 404
    assert client.get("/cards/?card=%00.abc").status_code in (200, 286)


def test_a_replaced_picture_is_shown_at_once(client):
    finish("Gate")
    finish("Hall")
    client.get(PAGE)

    services.request_new_pictures(SpotImageJob.objects.filter(spot_name="Gate"), by="mika")

    assert poll_address(client.get(PAGE).text)


def test_a_person_whom_a_proxy_signs_in_leaves_no_page_for_strangers(client, settings):
    settings.MIDDLEWARE = [
        *settings.MIDDLEWARE,
        "django.contrib.auth.middleware.PersistentRemoteUserMiddleware",
    ]
    settings.AUTHENTICATION_BACKENDS = ["django.contrib.auth.backends.RemoteUserBackend"]
    User.objects.create_superuser("mika")

    of_staff = client.get(PAGE, REMOTE_USER="mika")

    assert "/admin/" in of_staff.text
    assert of_staff.headers["Cache-Control"] == "private, no-cache"
    assert "/admin/" not in Client().get(PAGE).text
