"""POST /api/guides/: another system hands over a guide, once or repeatedly."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.contrib.auth.models import User
from django.test import Client

from guides.models import Guide, SpotDetail, SpotImageJob
from jobs.models import Status
from tests.guides.handover import guide
from tests.guides.painting import give_up, paint
from tests.jobs.conftest import in_another_thread

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("opened")]


def result(answer):
    answer = answer.json()
    return answer["result"], answer["pictures_asked_for"]


def spots():
    return list(SpotDetail.objects.values_list("spot_name", flat=True))


def test_a_new_guide_is_saved_and_its_pictures_are_asked_for(send):
    answer = send(
        {
            **guide(destination="Japan", summary="Gates.", picture_style="ink"),
            "spots": [{"name": " Gate ", "description": "Red.", "tags": ["b", "a"]}],
        }
    )

    assert (answer.status_code, result(answer)) == (201, ("created", 1))
    assert answer.headers["Location"] == answer.json()["url"]
    assert answer.json()["url"] == "http://testserver/guides/kyoto/"
    assert answer.json()["status_url"] == "http://testserver/api/guides/kyoto/status/"
    saved = Guide.objects.get()
    assert (saved.destination, saved.summary, saved.picture_style) == ("Japan", "Gates.", "ink")
    spot = SpotDetail.objects.get()
    assert (spot.spot_name, spot.description, spot.topic_tags) == ("Gate", "Red.", ["a", "b"])
    assert SpotImageJob.objects.get().spot_name == "Gate"


def test_the_same_again_changes_nothing(send):
    send(guide("Gate", "Pond"))

    answer = send(guide("Gate", "Pond"))

    assert (answer.status_code, result(answer)) == (200, ("unchanged", 0))
    assert SpotImageJob.objects.count() == 2


@pytest.mark.parametrize("tag", ["a" * 49 + " b", "　" + "ｱ" * 60, "a" * 51])
def test_the_same_long_tags_again_change_nothing(send, tag):
    body = guide(spots=[{"name": "Gate", "tags": [tag]}])

    assert [result(send(body))[0] for _ in range(3)] == ["created", "unchanged", "unchanged"]


def test_a_failed_picture_is_asked_for_again_when_its_words_change(send, pictures):
    send(guide("Gate", "Pond", "Hill"))
    paint("Hill")
    give_up("Gate", "Pond")
    changed = guide("Gate", "Pond", "Hill")
    changed["spots"][0]["description"] = changed["spots"][2]["description"] = "Red."

    answer = send(changed)

    assert result(answer) == ("updated", 1)
    assert dict(SpotImageJob.objects.values_list("spot_name", "status")) == {
        "Gate": Status.QUEUED,
        "Pond": Status.FAILED,
        "Hill": Status.SUCCEEDED,
    }
    assert SpotDetail.objects.get(spot_name="Gate").picture_state == "loading"


def test_failed_pictures_are_asked_for_again_in_another_style_but_not_for_another_title(send):
    send(guide("Gate"))
    give_up("Gate")

    assert result(send(guide("Gate", title="Another"))) == ("updated", 0)
    assert result(send(guide("Gate", title="Another", picture_style="ink"))) == ("updated", 1)


def test_a_changed_guide_asks_only_for_what_is_missing(send, pictures):
    send(guide("Gate", "Pond"))
    paint("Gate")
    before = SpotDetail.objects.get(spot_name="Gate")

    answer = send(guide("Hill", "Gate", "Pond", title="Another"))

    assert result(answer) == ("updated", 1)
    assert Guide.objects.get().title == "Another"
    assert spots() == ["Hill", "Gate", "Pond"]
    after = SpotDetail.objects.get(spot_name="Gate")
    assert (after.pk, after.image_url) == (before.pk, before.image_url)
    assert SpotImageJob.objects.get(spot_name="Gate").status == Status.SUCCEEDED


def test_a_spot_that_is_not_sent_any_more_is_removed_and_not_painted(send):
    send(guide("Gate", "Pond"))

    answer = send(guide("Pond"))

    assert result(answer) == ("updated", 0)
    assert spots() == ["Pond"]
    assert SpotImageJob.objects.get(spot_name="Gate").status == Status.CANCELED


def test_a_removed_spot_that_comes_back_is_painted_anew(send):
    send(guide("Gate"))
    send(guide())

    answer = send(guide("Gate"))

    assert result(answer) == ("updated", 1)
    assert SpotImageJob.objects.get().status == Status.QUEUED


def test_words_and_order_alone_ask_for_nothing(send):
    send(guide("Gate", "Pond"))

    changed = guide("Pond", "Gate")
    changed["spots"][0]["description"] = "Gold."
    answer = send(changed)

    assert result(answer) == ("updated", 0)
    assert spots() == ["Pond", "Gate"]
    assert SpotDetail.objects.get(spot_name="Pond").description == "Gold."


def test_a_guide_is_taken_whole_or_not_at_all(send, monkeypatch):
    send(guide("Gate"))
    monkeypatch.setattr("guides.services.SpotDetail.objects.bulk_update", lambda *_, **__: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        send(guide("Gate", "Pond", title="Another"))

    assert Guide.objects.get().title == "Kyoto"
    assert spots() == ["Gate"]
    assert SpotImageJob.objects.count() == 1


@pytest.mark.parametrize("count", [1, 50])
def test_the_number_of_queries_is_fixed(send, django_assert_max_num_queries, count):
    names = [f"Spot {n}" for n in range(count)]

    with django_assert_max_num_queries(15):
        send(guide(*names))
    with django_assert_max_num_queries(15):
        send(guide(*names, "One more", title="Another"))


@pytest.mark.django_db(transaction=True)
def test_the_same_guide_sent_twice_at_once_is_saved_once(send):
    def send_elsewhere():
        with ThreadPoolExecutor(2) as both:
            futures = [both.submit(in_another_thread, lambda: send(guide("Gate"))) for _ in "ab"]
            return [result(future.result()) for future in futures]

    assert sorted(send_elsewhere()) == [("created", 1), ("unchanged", 0)]
    assert SpotImageJob.objects.count() == 1


# Permissions


@pytest.mark.parametrize("token", ["", "wrong", "a secre", "a secret more", "é"])
def test_a_wrong_token_is_refused(send, token):
    answer = send(guide("Gate"), token=token)

    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert not Guide.objects.exists()


@pytest.mark.parametrize("token", ["", "None", "wrong"])
def test_it_is_closed_without_a_token_of_ours(send, settings, token):
    settings.API_TOKEN = ""

    answer = send(guide("Gate"), token=token)

    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "closed")


def test_another_kind_of_secret_is_refused(client):
    answer = client.post(
        "/api/guides/",
        guide("Gate"),
        content_type="application/json",
        headers={"Authorization": "Basic a secret"},
    )

    assert answer.status_code == 401


def test_a_cookie_opens_nothing(client):
    client.force_login(User.objects.create_superuser("operator"))

    answer = client.post("/api/guides/", guide("Gate"), content_type="application/json")

    assert answer.status_code == 401


def test_no_form_of_another_site_is_involved(settings):
    client = Client(enforce_csrf_checks=True)

    answer = client.post(
        "/api/guides/",
        guide("Gate"),
        content_type="application/json",
        headers={"Authorization": "Bearer a secret"},
    )

    assert answer.status_code == 201
