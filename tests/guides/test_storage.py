"""Pictures in a bucket: from environment variables to the file that a browser gets."""

import urllib.error
import urllib.request

import pytest
from django.core.files.storage import storages

from guides import images
from jobs.storage import Bucket, Folder
from tests.guides.painting import paint
from tests.jobs.storage import servers

pytestmark = pytest.mark.django_db

moto_server, account, s3 = servers.moto_server, servers.account, servers.s3

HASH = "ab" * 32
FOR_EVER = "public, max-age=31536000, immutable"


@pytest.fixture
def keep_in(settings):
    """Keep files as a process with this environment would."""

    def keep_in(environment):
        settings.STORAGES = servers.chosen_storages(environment)

    settings.PAINTER_SECONDS = 0
    return keep_in


def fetch(url):
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.headers, answer.read()


@pytest.mark.long
def test_a_picture_in_a_private_bucket_is_reached_through_this_site(spot, client, s3, keep_in):
    keep_in(s3.environment)

    paint(spot.spot_name)

    spot.refresh_from_db()
    assert spot.image_url.startswith("/pictures/")
    for address in [spot.image_url, *spot.srcset.split()[::2]]:
        redirect = client.get(address)
        assert redirect.status_code == 302
        assert redirect.headers["Cache-Control"] == "public, max-age=600"
        assert "X-Amz-Expires=3600" in redirect.url
        headers, content = fetch(redirect.url)
        assert (headers["Content-Type"], headers["Cache-Control"]) == ("image/webp", FOR_EVER)
        assert content[8:12] == b"WEBP"


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("named", "folder"),
    [({}, ""), ({"DATABASE": "tokyo", "DATABASES_TOKYO_URL": "sqlite:///x.db"}, "/tokyo")],
)
def test_a_picture_in_a_public_bucket_has_its_own_address(spot, client, s3, keep_in, named, folder):
    servers.open_to_all(s3)
    public = f"{s3.url}/{s3.bucket}"
    keep_in(s3.environment | {"S3_PUBLIC_URL": public} | named)

    paint(spot.spot_name)

    spot.refresh_from_db()
    assert spot.image_url.startswith(f"{public}{folder}/pictures/")
    addresses = spot.srcset.split()[::2]
    assert len(addresses) == len(images.WIDTHS)
    assert spot.image_url in addresses
    for address in addresses:
        headers, _ = fetch(address)
        assert (headers["Content-Type"], headers["Cache-Control"]) == ("image/webp", FOR_EVER)
    page = client.get(spot.guide.get_absolute_url()).content.decode()
    assert f'src="{spot.image_url}"' in page
    assert f'srcset="{spot.srcset}"' in page


@pytest.mark.long
def test_a_picture_of_before_the_public_address_still_works(client, s3, keep_in):
    keep_in(s3.environment | {"S3_PUBLIC_URL": "https://pictures.example.org"})
    storages["pictures"].put(f"pictures/{HASH}/480.webp", b"RIFF")

    address = images.srcset(f"/pictures/{HASH}/1024.webp").split()[0]

    assert address == f"/pictures/{HASH}/480.webp"
    assert fetch(client.get(address).url)[1] == b"RIFF"


@pytest.mark.parametrize(
    "address",
    [
        f"https://evil.example.org/pictures/{HASH}/480.webp",
        f"https://pictures.example.org/elsewhere/pictures/{HASH}/480.webp",
        f"https://pictures.example.org.evil.example/pictures/{HASH}/480.webp",
        f"//pictures.example.org/pictures/{HASH}/480.webp",
        "https://pictures.example.org/pictures/a.webp",
    ],
)
def test_what_only_looks_like_our_address_has_no_srcset(settings, address):
    options = {"bucket": "tabie", "public_url": "https://pictures.example.org"}
    bucket = {"BACKEND": "jobs.storage.Bucket", "OPTIONS": options}
    settings.STORAGES = settings.STORAGES | {"pictures": bucket}

    assert images.srcset(f"https://pictures.example.org/pictures/{HASH}/480.webp")
    assert images.srcset(address) == ""


def test_that_a_picture_is_missing_is_said_by_the_bucket(client, s3, keep_in):
    keep_in(s3.environment)

    redirect = client.get(f"/pictures/{HASH}/480.webp")

    with pytest.raises(urllib.error.HTTPError) as missing:
        fetch(redirect.url)
    missing.value.close()
    assert missing.value.code == 404


def test_nothing_but_pictures_is_signed_for_visitors(client, s3, keep_in):
    keep_in(s3.environment)

    for name in (f"calls/{HASH}/1", f"{HASH}/../../calls/{HASH}/1", f"{HASH}/1", "calls"):
        assert client.get(f"/pictures/{name}").status_code == 404


def test_stored_pictures_are_known_again(s3, keep_in):
    keep_in(s3.environment)
    for width in images.WIDTHS[:-1]:
        storages["pictures"].put(f"pictures/{HASH}/{width}.webp", b"RIFF")
    assert not images.is_stored(f"pictures/{HASH}")

    storages["pictures"].put(f"pictures/{HASH}/{images.WIDTHS[-1]}.webp", b"RIFF")

    assert images.is_stored(f"pictures/{HASH}")


# From the environment


def test_answers_have_their_own_bucket_and_may_not_be_kept(s3, keep_in):
    keep_in(s3.environment | {"S3_PUBLIC_URL": "https://pictures.example.org"})
    assert storages["answers"].bucket == s3.bucket
    private = servers.with_new_bucket(s3)

    keep_in(s3.environment | {"S3_PRIVATE_BUCKET": private.bucket})
    storages["answers"].put(f"calls/{HASH}/1", b"answer")

    assert private.open().exists(f"calls/{HASH}/1")
    assert not s3.open().exists(f"calls/{HASH}/1")
    headers, _ = fetch(private.open().signed_url(f"calls/{HASH}/1", 60))
    assert headers["Cache-Control"] == "private, no-store"
    with pytest.raises(ValueError, match="no public address"):
        storages["answers"].url(f"calls/{HASH}/1")


def test_without_a_bucket_there_are_folders(keep_in, tmp_path):
    keep_in(
        {"S3_BUCKET": "", "PICTURES_FOLDER": f"{tmp_path}/a", "ANSWERS_FOLDER": f"{tmp_path}/b"}
    )

    storages["pictures"].put("pictures/x", b"picture")
    storages["answers"].put("calls/x", b"answer")

    assert isinstance(storages["pictures"], Folder)
    assert (tmp_path / "a/pictures/x").read_bytes() == b"picture"
    assert (tmp_path / "b/calls/x").read_bytes() == b"answer"
    assert (tmp_path / "b/calls/x").stat().st_mode & 0o077 == 0


def test_the_storages_of_a_bucket_name_no_secret(s3, keep_in):
    chosen = servers.chosen_storages(s3.environment)

    assert servers.SECRET not in str(chosen)
    assert isinstance(Bucket(**chosen["pictures"]["OPTIONS"]), Bucket)
