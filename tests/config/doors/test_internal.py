"""The door of /internal/run-jobs/: who may ask, and for what."""

import pytest

from jobs.models import Worker
from tests.config.asking import SECRET, ask, code, opened

__all__ = ["opened"]  # a fixture
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("opened")]


@pytest.mark.parametrize("secret", ["", "x", SECRET])
@pytest.mark.parametrize("method", ["get", "post"])
def test_without_a_secret_there_is_no_such_page(settings, secret, method):
    settings.INTERNAL_SECRET = ""

    assert ask(secret=secret, method=method).status_code == 404


@pytest.mark.parametrize("secret", ["", " ", "wrong", SECRET[:-1], SECRET + "x", "ü" * 32, "秘"])
def test_a_wrong_secret_runs_nothing(secret):
    answer = ask(secret=secret)

    assert (answer.status_code, code(answer)) == (403, "forbidden")
    assert SECRET not in answer.content.decode()
    assert not Worker.objects.exists()


def test_wrong_secrets_make_their_address_wait():
    refused = [ask(secret="wrong").status_code for _ in range(12)]

    assert refused[0] == 403
    assert refused[-1] == 429
    assert int(ask(secret="wrong").headers["Retry-After"]) >= 1


def test_only_post_is_allowed():
    answer = ask(method="get")

    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("?seconds=0", "'0'"),
        ("?seconds=51", "from 1 to 50"),
        ("?seconds=-1", "'-1'"),
        ("?seconds=1.5", "'1.5'"),
        ("?seconds=nan", "'nan'"),
        ("?seconds=", "seconds=''"),
        ("?seconds=１２", "seconds="),
        ("?seconds=5&seconds=6", "each once"),
        ("?jobs=0", "from 1 to 10000"),
        ("?jobs=1e3", "'1e3'"),
        ("?chain=yes", "true or false"),
        ("?second=5", "seconds, jobs, chain"),
    ],
)
def test_nonsense_is_refused_and_named(query, named):
    answer = ask(query)

    assert (answer.status_code, code(answer)) == (400, "invalid")
    assert named in answer.json()["error"]["text"]
    assert not Worker.objects.exists()


def test_a_chain_needs_the_site_s_own_address(settings):
    settings.SITE_URL = ""

    answer = ask("?chain=true")

    assert (answer.status_code, code(answer)) == (400, "no_address")


def test_a_secret_of_other_letters_than_ascii_is_compared_too(settings):
    settings.INTERNAL_SECRET = "秘" * 32
    as_sent = settings.INTERNAL_SECRET.encode().decode("latin-1")  # as a server hands it over

    assert ask("?seconds=0", secret=as_sent).status_code == 400  # it was let in
