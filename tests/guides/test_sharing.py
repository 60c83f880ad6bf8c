"""What a shared link shows, and how long pages may be cached."""

import re

import pytest
from django.contrib.auth.models import User

from guides.models import SpotDetail, SpotImageJob
from jobs import queue
from tests.guides.conftest import save_guide

pytestmark = pytest.mark.django_db

PICTURE = f"/pictures/{'ab' * 32}/1024.webp"


def previews(client, path):
    html = client.get(path).content.decode()
    return dict(re.findall(r'<meta (?:property|name)="([a-z:]+)" content="([^"]*)">', html))


def finish(*, failing=False):
    queue.cancel(SpotImageJob.objects.all())
    SpotDetail.objects.update(image_url="" if failing else PICTURE)


def test_a_guide_is_shared_with_title_words_and_picture(client):
    guide = save_guide("Gate", "Pond")
    guide.summary = 'Gates\n& "ponds".'
    guide.save()
    finish()

    found = previews(client, "/guides/kyoto/")

    assert found["og:title"] == "Kyoto"
    assert found["og:description"] == found["description"] == "Gates &amp; &quot;ponds&quot;."
    assert found["og:url"] == "http://testserver/guides/kyoto/"
    assert found["og:image"] == f"http://testserver{PICTURE}"
    assert found["og:image:alt"] == "Gate"
    assert found["twitter:card"] == "summary_large_image"


@pytest.mark.parametrize(
    ("host", "shown"),
    [
        ("testserver:6666", "testserver"),
        ("TestServer:6666", "testserver"),
        ("testserver:8443", "testserver:8443"),  # named in the settings
        ("testserver:80", "testserver:80"),  # where the server listens
        ("[::1]:6666", "[::1]"),
    ],
)
def test_no_link_has_a_port_that_only_this_client_knows(client, settings, host, shown):
    settings.ALLOWED_HOSTS = ["testserver", "[::1]"]
    settings.HOSTS_WITH_PORT = ["testserver:8443"]
    save_guide("Gate")
    finish()

    answer = client.get("/guides/kyoto/", headers={"Host": host})

    found = dict(re.findall(r'<meta property="([a-z:]+)" content="([^"]*)">', answer.text))
    assert found["og:url"] == f"http://{shown}/guides/kyoto/"
    assert found["og:image"] == f"http://{shown}{PICTURE}"
    assert "6666" not in answer.text


def test_behind_a_proxy_the_servers_own_port_is_unknown_too(client, settings):
    settings.TRUST_PROXY = True
    save_guide("Gate")

    answer = client.get("/guides/kyoto/", headers={"Host": "testserver:8000"}, SERVER_PORT="8000")

    assert "testserver:8000" not in answer.text


def test_a_guide_without_words_or_pictures_is_shared_with_its_spots(client):
    save_guide("Gate", "Pond")

    found = previews(client, "/guides/kyoto/")

    assert found["og:description"] == "Gate · Pond"
    assert "og:image" not in found


def test_home_is_shared_too(client):
    assert previews(client, "/")["og:title"] == "Tabie 旅絵"


def test_there_is_a_favicon_for_those_who_only_guess(client):
    answer = client.get("/favicon.ico")

    assert (answer.status_code, answer.headers["Location"]) == (302, "/static/favicon.svg")
    assert answer.headers["Cache-Control"] == "public, max-age=86400"  # its target may change


# What may be kept


def test_a_final_guide_may_be_kept_for_a_minute(client):
    save_guide("Gate")
    finish()

    answer = client.get("/guides/kyoto/")

    assert answer.headers["Cache-Control"] == "public, max-age=60"
    assert {"Cookie", "Accept-Language"} <= set(answer.headers["Vary"].split(", "))
    again = client.get("/guides/kyoto/", headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_a_guide_with_failed_pictures_is_final_too(client):
    save_guide("Gate")
    finish(failing=True)

    assert "public" in client.get("/guides/kyoto/").headers["Cache-Control"]


def test_a_guide_with_a_picture_on_its_way_is_asked_for_again(client):
    save_guide("Gate")

    answer = client.get("/guides/kyoto/")

    assert answer.headers["Cache-Control"] == "private, no-cache"


def test_a_guide_whose_picture_is_to_be_replaced_is_asked_for_again(client):
    save_guide("Gate")
    SpotDetail.objects.update(image_url=PICTURE)

    assert client.get("/guides/kyoto/").headers["Cache-Control"] == "private, no-cache"


def test_what_somebody_signed_in_sees_is_not_for_others(client):
    save_guide("Gate")
    finish()
    client.force_login(User.objects.create_user("author"))

    assert client.get("/guides/kyoto/").headers["Cache-Control"] == "private, no-cache"


def test_another_picture_is_another_page(client):
    save_guide("Gate")
    finish()
    etag = client.get("/guides/kyoto/").headers["ETag"]
    SpotDetail.objects.update(image_url=PICTURE.replace("ab", "cd"))

    answer = client.get("/guides/kyoto/", headers={"If-None-Match": etag})

    assert answer.status_code == 200
