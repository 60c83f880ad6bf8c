import traceback
from urllib.parse import quote

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import RequestFactory
from django.views.debug import ExceptionReporter

from config import database_url
from config.embedded.server import Server


@pytest.fixture
def read(quick_python):
    """Read one value of the database's settings under a DATABASE_URL."""

    def read(url, key):
        code = f"from config import settings; print(settings.DATABASES['default'][{key!r}])"
        done = quick_python("-c", code, DEBUG="true", DATABASE_URL=url)
        assert done.returncode == 0, done.stderr
        return done.stdout.removesuffix("\n")

    return read


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("postgresql://user@%2Fvar%2Frun%2Fpostgresql/db", "/var/run/postgresql"),
        ("postgresql://user@%2fvar%2fRun:5433/db", "/var/Run"),
        ("postgresql://%2Ftmp%2Fa%20b/db", "/tmp/a b"),
        ("postgresql://user:p%40ss@%2Ftmp/db", "/tmp"),
        ("postgresql://user@%2Ftmp,%2Fvar%2Frun/db", "/tmp,/var/run"),
        ("postgresql:////tmp/db", "/tmp"),
        ("postgresql://user@db.example.org/db", "db.example.org"),
        ("postgresql://user@[::1]:5433/db", "::1"),
    ],
)
def test_the_host_may_be_the_folder_of_a_socket(read, url, host):
    assert read(url, "HOST") == host


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("USER", "us@er%2F"),
        ("PASSWORD", "p%2F:@/?#"),
        ("NAME", "my db%41"),
        ("PORT", "5433"),
    ],
)
def test_the_other_parts_are_decoded_once(read, key, value):
    user, password, name = (quote(part, safe="") for part in ("us@er%2F", "p%2F:@/?#", "my db%41"))

    assert read(f"postgresql://{user}:{password}@%2Ftmp:5433/{name}", key) == value


@pytest.mark.long
def test_a_server_is_reached_through_its_socket(quick_python, tmp):
    server = Server(tmp / "Server", durable=False)
    server.start()

    url = f"postgresql://postgres@{quote(str(server.sockets), safe='')}/tabie"
    asked = quick_python("manage.py", "showmigrations", "guides", DEBUG="true", DATABASE_URL=url)

    assert "[ ] 0001_initial" in asked.stdout, asked.stderr


@pytest.mark.parametrize(
    "url",
    [
        *("postgres//user:Hidden@host/db", "postgresql:/user:Hidden@host/db", "user:Hidden@host"),
        *("postgresql://user:Hidden@host", "postgresql://user:Hidden@host:54x/db"),
        *("postgresql:///user:Hidden@host/db", "postgresql://user:Hid/Hidden@host/db"),
        *("postgresql://user:?Hidden@host/db", "mysql://user:Hidden@host/db", "Hidden"),
    ],
)
def test_a_mistyped_address_is_refused_without_its_password(url):
    with pytest.raises(ImproperlyConfigured, match="DATABASES_X_URL can't be read") as refused:
        database_url.read(url, "DATABASES_X_URL")

    assert "Hidden" not in "".join(traceback.format_exception(refused.value, chain=True))
    assert refused.value.__cause__ is refused.value.__context__ is None


def test_nothing_prints_the_password_of_a_mistyped_address(quick_python):
    refused = quick_python(
        "manage.py", "check", DEBUG="true", DATABASE_URL="postgresq//user:Hidden@h/db"
    )

    assert refused.returncode == 1
    assert refused.stderr.startswith("ImproperlyConfigured: DATABASE_URL can't be read.")
    assert "Hidden" not in refused.stderr + refused.stdout
    assert "Traceback" not in refused.stderr


@pytest.mark.parametrize("variable", ["DATABASE_URL", "DATABASES_TOKYO_URL"])
def test_a_debug_page_hides_the_password(settings, variable):
    setattr(settings, variable, "postgresql://user:Hidden@host/db")
    # The development server adds its environment to what a request holds.
    request = RequestFactory().get("/", **{variable: "postgresql://user:Hidden@host/db"})

    page = ExceptionReporter(request, None, None, None).get_traceback_html()

    assert variable in page
    assert "Hidden" not in page
