"""A bucket as storage, over real HTTP."""

import subprocess
import sys
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.core.exceptions import SuspiciousFileOperation

from jobs.storage import Bucket
from jobs.storage import bucket as storage
from tests.jobs.storage.servers import ROOT

NAME = "calls/abc/1"
PICTURE = "pictures/abc/480.webp"


@pytest.fixture(params=["s3", "signing"])
def any_server(request):
    return request.getfixturevalue(request.param)


def test_what_is_put_can_be_read(any_server):
    bucket = any_server.open()
    assert not bucket.exists(NAME)

    bucket.put(NAME, b"answer" * 20_000)

    assert bucket.exists(NAME)
    assert bucket.read(NAME) == b"answer" * 20_000


def test_putting_again_does_no_harm(any_server):
    bucket = any_server.open()

    bucket.put(NAME, b"answer")
    bucket.put(NAME, b"answer")

    assert bucket.read(NAME) == b"answer"


def test_what_is_stored_is_never_overwritten(s3):
    s3.open().put(NAME, b"first")
    s3.open().put(NAME, b"other")

    assert s3.open().read(NAME) == b"first"


def test_what_is_not_there_can_not_be_read(any_server):
    with pytest.raises(FileNotFoundError):
        any_server.open().read(NAME)


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("offset", "length", "part"), [(0, 3, b"012"), (4, 3, b"456"), (8, 9, b"89"), (20, 3, b"")]
)
def test_a_part_can_be_read(any_server, offset, length, part):
    bucket = any_server.open()
    bucket.put(NAME, b"0123456789")

    assert bucket.read_range(NAME, offset, length) == part


def test_a_part_of_what_is_not_there_can_not_be_read(any_server):
    with pytest.raises(FileNotFoundError):
        any_server.open().read_range(NAME, 0, 3)


def test_what_is_removed_is_gone_and_the_name_is_free(any_server):
    bucket = any_server.open()
    bucket.put(NAME, b"answer")

    bucket.remove(NAME)
    bucket.remove(NAME)  # twice is once

    assert not bucket.exists(NAME)
    bucket.put(NAME, b"another")
    assert bucket.read(NAME) == b"another"


def test_two_sites_in_one_bucket_neither_find_nor_remove_files_of_the_other(any_server):
    tokyo, other = any_server.open(prefix="tokyo/"), any_server.open()

    tokyo.put(NAME, b"answer")
    other.remove(NAME)

    assert not other.exists(NAME)
    assert other.exists(f"tokyo/{NAME}")
    assert tokyo.read(NAME) == tokyo.read_range(NAME, 0, 6) == b"answer"
    assert f"/tokyo/{NAME}?" in tokyo.signed_url(NAME, 60)


def test_objects_say_what_they_are_and_how_long_they_may_be_kept(s3):
    bucket = s3.open(cache_control="public, max-age=31536000, immutable")

    bucket.put(PICTURE, b"RIFF")
    bucket.put(NAME, b"answer")

    with urllib.request.urlopen(bucket.signed_url(PICTURE, 60)) as answer:
        assert answer.headers["Content-Type"] == "image/webp"
        assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    with urllib.request.urlopen(bucket.signed_url(NAME, 60)) as answer:
        assert answer.headers["Content-Type"] == "application/octet-stream"


def test_eight_at_once_leave_one_object(s3):
    bucket, barrier = s3.open(), Barrier(8)

    def put(_):
        barrier.wait()
        bucket.put(NAME, b"answer")

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(put, range(8)))

    assert bucket.read(NAME) == b"answer"


@pytest.mark.parametrize("name", ["", "/a", "../a", "a/../b", "a//b", "a?b", "a\nb"])
def test_names_can_not_lead_elsewhere(name):
    bucket = Bucket("tabie", public_url="/")
    uses = (
        lambda: bucket.put(name, b""),
        lambda: bucket.read(name),
        lambda: bucket.exists(name),
        lambda: bucket.url(name),
        lambda: bucket.signed_url(name, 60),
    )
    for use in uses:
        with pytest.raises(SuspiciousFileOperation):
            use()


# What is sent


def test_a_put_has_its_condition_and_no_checksum_that_r2_would_refuse(s3, faulty):
    s3.behind(faulty).open().put(NAME, b"answer")

    [(method, headers)] = faulty.seen
    assert (method, headers["If-None-Match"]) == ("PUT", "*")
    assert not [name for name in headers if "checksum" in name.lower() or "crc" in name.lower()]
    assert "aws-chunked" not in headers.get("Content-Encoding", "")


def test_a_storage_that_does_not_know_the_condition_is_asked_first(s3, faulty):
    bucket = s3.behind(faulty).open()

    for content in (b"first", b"other"):
        faulty.faults = [(501, "NotImplemented")]
        bucket.put(NAME, content)

    assert [method for method, _ in faulty.seen] == ["PUT", "HEAD", "PUT", "PUT", "HEAD"]
    assert bucket.read(NAME) == b"first"


def test_a_conflict_is_tried_again(s3, faulty):
    faulty.faults = [(409, "ConditionalRequestConflict")]

    s3.behind(faulty).open().put(NAME, b"answer")

    assert s3.open().read(NAME) == b"answer"


# Addresses


@pytest.mark.parametrize(
    "public_url", ["https://pictures.example.org", "https://pictures.example.org/"]
)
def test_public_addresses_need_no_client(public_url, monkeypatch):
    monkeypatch.setattr(storage, "client_for", None)
    bucket = Bucket("tabie", public_url=public_url)

    assert bucket.url(PICTURE) == f"https://pictures.example.org/{PICTURE}"


def test_private_files_have_no_address():
    with pytest.raises(ValueError, match="no public address"):
        Bucket("tabie").url(NAME)


def test_a_signed_address_works_and_an_altered_one_does_not(signing):
    bucket = signing.open()
    bucket.put(PICTURE, b"RIFF")

    url = bucket.signed_url(PICTURE, 60)

    with urllib.request.urlopen(url) as answer:
        assert answer.read() == b"RIFF"
    altered = url[:-4] + ("0000" if not url.endswith("0000") else "1111")
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(altered)
    refused.value.close()
    assert refused.value.code == 403


@pytest.mark.parametrize(
    ("options", "start"),
    [
        ({"region": "ap-northeast-1"}, "https://tabie.s3.ap-northeast-1.amazonaws.com/pictures/"),
        (
            {"region": "auto", "endpoint_url": "https://me.r2.cloudflarestorage.com"},
            "https://me.r2.cloudflarestorage.com/tabie/pictures/",
        ),
    ],
    ids=["S3", "R2"],
)
def test_signed_addresses_name_the_place_itself(account, options, start):
    url = Bucket("tabie", **options).signed_url(PICTURE, 60)

    assert url.startswith(start)
    assert "X-Amz-Expires=60" in url
    assert "X-Amz-Algorithm=AWS4-HMAC-SHA256" in url


# One client


def test_threads_share_one_client(s3, monkeypatch):
    made, real = [], storage.new_client
    monkeypatch.setattr(storage, "new_client", lambda *about: made.append(real(*about)) or made[-1])
    barrier = Barrier(8)

    def ask(_):
        barrier.wait()
        return s3.open().exists(NAME)

    with ThreadPoolExecutor(8) as threads:
        assert not any(threads.map(ask, range(8)))

    assert len(made) == 1


FORK = """
import os, signal
from django.conf import settings
settings.configure()
from jobs.storage import bucket as storage

storage.new_client = lambda *about: object()
ours = storage.client_for("", "auto", 1)
storage.making.acquire()  # as if another thread were making a client
if os.fork() == 0:
    signal.alarm(10)
    os._exit(0 if storage.client_for("", "auto", 1) is not ours else 1)
print(os.waitstatus_to_exitcode(os.wait()[1]))
"""


def test_a_fork_makes_its_own_client():
    forked = subprocess.run([sys.executable, "-c", FORK], cwd=ROOT, capture_output=True, text=True)

    assert forked.stdout == "0\n", forked.stderr


def test_boto_is_imported_on_use():
    code = "import sys; from jobs import storage; print('boto3' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)

    assert done.stdout == "False\n", done.stderr
