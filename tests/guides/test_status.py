"""The status API: true, and the same for other programs as for the page."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now

from guides.models import SpotImageJob
from jobs import queue
from jobs.models import Provider, Status
from jobs.paid import limits
from jobs.queue import outcomes
from tests.guides.conftest import save_guide
from tests.guides.painting import claim, give_up
from tests.guides.statuses import ADDRESS, HASH, show

pytestmark = pytest.mark.django_db


def spots_of(answer):
    return {spot["name"]: spot for spot in answer.json()["spots"]}


def test_it_counts_the_pictures(ask):
    save_guide("Gate", "Pond", "Hill", "Fog")
    show("Gate")
    give_up("Fog")

    status = ask().json()

    assert status["counts"] == {"total": 4, "ready": 1, "loading": 2, "failed": 1, "none": 0}
    assert status["percent"] == 50
    assert status["final"] is False


def test_a_guide_without_spots_is_final(ask):
    save_guide()

    status = ask().json()

    assert (status["final"], status["percent"], status["spots"]) == (True, 100, [])
    assert status["poll_after_seconds"] is None


def test_a_ready_picture_has_its_address_in_all_widths(ask):
    save_guide("Gate")
    show("Gate")

    spot = spots_of(ask())["Gate"]

    assert spot["image_url"] == f"http://testserver/pictures/{HASH}/1024.webp"
    assert spot["widths"][0] == {
        "width": 480,
        "url": f"http://testserver/pictures/{HASH}/480.webp",
    }
    assert spot["waits_for"] is None


@pytest.mark.parametrize("url", ["javascript:alert(1)", "//example.org/x", "data:text/html,x"])
def test_only_addresses_of_the_web_are_passed_on(ask, url):
    save_guide("Gate")
    show("Gate", url)

    answer = ask()

    assert spots_of(answer)["Gate"]["image_url"] is None
    assert spots_of(answer)["Gate"]["picture_state"] == "none"
    assert answer.json()["counts"]["ready"] == 0


@pytest.mark.parametrize("url", ["https://example.org/a.jpg", "https://[not-an-address/a.jpg"])
def test_a_foreign_picture_has_one_address(ask, url):
    save_guide("Gate")
    show("Gate", url)

    spot = spots_of(ask())["Gate"]

    assert (spot["image_url"], spot["widths"]) == (url, [])


def test_who_waits_for_its_turn_hears_how_many_are_before_it(ask):
    save_guide("First", plan_id="other")
    save_guide("Gate", "Pond")

    positions = [spot["waits_for"]["position"] for spot in ask().json()["spots"]]

    assert sorted(positions) == [1, 2]
    assert spots_of(ask())["Gate"]["waits_for"]["reason"] == "turn"


def test_lower_priorities_come_first(ask):
    save_guide("Gate", "Pond")
    SpotImageJob.objects.filter(spot_name="Pond").update(priority=-1)

    spots = spots_of(ask())

    assert spots["Pond"]["waits_for"]["position"] == 0
    assert spots["Gate"]["waits_for"]["position"] == 1


def test_nobody_counts_further_than_a_thousand(ask, monkeypatch):
    monkeypatch.setattr("guides.estimates.MOST_COUNTED", 3)
    save_guide("1", "2", "3", "4", plan_id="other")
    save_guide("Gate")

    assert spots_of(ask())["Gate"]["waits_for"]["position"] == 3


def test_who_is_tried_again_hears_when(ask):
    save_guide("Gate")
    [job] = claim(["Gate"])
    queue.settle([outcomes.from_error(job, ValueError("no blue left"))])

    wait = spots_of(ask())["Gate"]["waits_for"]

    assert (wait["reason"], wait["position"]) == ("retry", None)
    assert wait["until"] > "2026"


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"paused": True}, "paused"),
        ({"paused_until": Now() + timedelta(hours=1)}, "paused"),
        ({"daily_budget": 1, "price": 2}, "budget"),
        (
            {"requests_per_minute": 1, "burst": 1, "full_at": Now() + timedelta(hours=1)},
            "rate_limit",
        ),
    ],
)
def test_a_closed_provider_is_the_reason(ask, columns, reason):
    save_guide("Gate")
    limits.find("painter")
    Provider.objects.update(**columns)

    wait = spots_of(ask())["Gate"]["waits_for"]

    assert wait["reason"] == reason
    assert wait["position"] == 0


def test_what_is_being_painted_waits_for_nothing(ask):
    save_guide("Gate")
    claim(["Gate"])

    spot = spots_of(ask())["Gate"]

    assert (spot["image_status"], spot["waits_for"]) == ("processing", None)


def test_nothing_private_is_told(ask):
    save_guide("Gate", "Pond")
    [job] = claim(["Gate"])
    queue.settle([outcomes.from_error(job, ValueError("SECRET error"))])
    SpotImageJob.objects.filter(status=Status.PROCESSING).update(locked_by="SECRET worker")

    assert "SECRET" not in ask().content.decode()


def test_nobody_elses_page_may_read_it(ask):
    save_guide("Gate")

    answer = ask(Origin="https://example.org")

    assert answer.headers["Content-Type"] == "application/json"
    assert not [name for name in answer.headers if name.startswith("Access-Control")]


# What it costs


@pytest.mark.parametrize("count", [1, 40])
def test_the_number_of_queries_is_fixed(ask, django_assert_num_queries, count):
    save_guide(*(f"Spot {n}" for n in range(count)))
    ask()  # the first request creates the provider's row

    with django_assert_num_queries(8):
        etag = ask().headers["ETag"]
    with django_assert_num_queries(5):
        ask(If_None_Match=etag)


def test_a_final_guide_costs_three_queries(ask, django_assert_num_queries):
    save_guide("Gate")
    show("Gate")

    with django_assert_num_queries(3):  # its spots, its words, its translations
        ask()


# What is wrong


@pytest.mark.parametrize("plan_id", ["unknown", "a b", "%00", "x" * 500, "日本", "new", "..%2f"])
def test_an_unknown_guide_is_not_found_in_json(client, plan_id):
    answer = client.get(f"/api/guides/{plan_id}/status/")

    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "not_found"


@pytest.mark.parametrize("path", ["/api/", "/api/guide/", "/api/guides/kyoto/"])
def test_whatever_is_not_there_is_said_in_json(client, path):
    answer = client.get(path)

    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")


@pytest.mark.parametrize(("path", "is_json"), [(ADDRESS, True), ("/guides/kyoto/", False)])
def test_a_request_to_another_site_is_refused_in_json_by_the_api(client, settings, path, is_json):
    settings.ALLOWED_HOSTS = ["tabie.example.org"]

    answer = client.get(path, headers={"Host": "evil.example.org"})

    assert answer.status_code == 400
    assert ("json" in answer.headers["Content-Type"]) == is_json
    assert "evil" not in answer.content.decode()


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete", "options"])
def test_it_is_only_read(client, method):
    save_guide("Gate")

    answer = getattr(client, method)(ADDRESS)

    assert (answer.status_code, answer.headers["Allow"]) == (405, "GET, HEAD")
    assert answer.json()["error"]["code"] == "method_not_allowed"


def test_a_head_has_the_same_headers(client, ask):
    save_guide("Gate")

    answer = client.head(ADDRESS)

    assert (answer.status_code, answer.headers["ETag"]) == (200, ask().headers["ETag"])
