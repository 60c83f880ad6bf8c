"""Several databases: how they are named, chosen and kept apart (docs/databases.md)."""

import json
import os

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import console, database_names, storages
from config.database_names import Choice
from config.storages import Places

TOKYO, OSAKA = "sqlite:////tmp/tokyo.db", "postgresql://host/osaka"
BUCKETS = Places("pictures", "answers")


@pytest.fixture(autouse=True)
def variables(monkeypatch):
    """Two databases with names; returns how to change variables."""
    monkeypatch.setenv("DATABASES_TOKYO_URL", TOKYO)
    monkeypatch.setenv("DATABASES_OSAKA_2_URL", OSAKA)
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.setenv("DATABASE", "")
    return monkeypatch


@pytest.mark.parametrize("name", ["tokyo", "TOKYO", " Tokyo "])
def test_a_variable_names_a_database(name):
    assert database_names.choose(name) == Choice("tokyo", "DATABASES_TOKYO_URL", TOKYO)
    assert list(database_names.known()) == ["osaka_2", "tokyo"]


def test_without_a_choice_it_is_the_database_without_a_name():
    assert database_names.choose("") == Choice("", "DATABASE_URL", "")


@pytest.mark.parametrize("name", ["kyoto", "default", "tokyo2"])
def test_an_unknown_name_is_refused_with_those_that_are_known(name):
    with pytest.raises(ImproperlyConfigured, match=f"no database '{name}'. Known: osaka_2, tokyo."):
        database_names.choose(name)


def test_a_url_in_the_place_of_a_name_is_not_shown():
    with pytest.raises(ImproperlyConfigured, match="no database of this name") as refused:
        database_names.choose("postgresql://user:Hidden@host/db")

    assert "hidden" not in str(refused.value).lower()


def test_djangos_own_name_is_not_given_to_a_database(variables):
    variables.setenv("DATABASES_DEFAULT_URL", TOKYO)

    with pytest.raises(ImproperlyConfigured, match="DATABASES_DEFAULT_URL: take another name"):
        database_names.choose("")


@pytest.mark.parametrize(
    ("variable", "url", "chosen"),
    [
        ("DATABASE_URL", TOKYO, "tokyo"),
        ("DATABASE_URL", TOKYO, ""),
        ("DATABASES_KYOTO_URL", "sqlite:////tmp/../tmp/tokyo.db", "kyoto"),
        ("DATABASES_KYOTO_URL", "postgresql://someone:else@HOST:5432/osaka", "osaka_2"),
    ],
)
def test_a_database_with_two_names_is_refused(variables, variable, url, chosen):
    variables.setenv(variable, url)

    with pytest.raises(ImproperlyConfigured, match="lead to the same database") as refused:
        database_names.choose(chosen)

    assert variable in str(refused.value)


@pytest.mark.parametrize("url", ["", "postgresql://host:5433/osaka", "postgresql://host/kyoto"])
def test_databases_of_one_server_are_different(variables, url):
    variables.setenv("DATABASES_KYOTO_URL", url)

    assert database_names.choose("osaka_2").url == OSAKA
    assert database_names.choose("kyoto").url == url


@pytest.mark.parametrize(
    ("arguments", "left", "chosen"),
    [
        (["runworker", "--database", "tokyo", "--drain"], ["runworker", "--drain"], "tokyo"),
        (["--database=tokyo", "jobs", "status"], ["jobs", "status"], "tokyo"),
        (["jobs", "status", "--database", "kyoto"], ["jobs", "status"], "kyoto"),
        (["migrate", "--database", "default"], ["migrate", "--database", "default"], ""),
        (
            ["migrate", "--database=default", "--database=tokyo"],
            ["migrate", "--database", "default"],
            "tokyo",
        ),
        (["dbshell", "--", "--database", "x"], ["dbshell", "--", "--database", "x"], ""),
        (["jobs", "pause", "--reason=--database"], ["jobs", "pause", "--reason=--database"], ""),
    ],
)
def test_any_command_takes_the_name_of_a_database(arguments, left, chosen):
    assert database_names.take(arguments) == left
    assert os.environ["DATABASE"] == chosen


@pytest.mark.parametrize("arguments", [["--database="], ["--database", ""], ["--database"]])
def test_an_empty_name_is_refused_and_not_taken_for_the_database_without_one(arguments):
    with pytest.raises(ImproperlyConfigured, match="--database needs a name"):
        database_names.take(["runworker", *arguments])


# What a process with a name has for itself


def settings_of(python, *names, **environment):
    asked = f"print(json.dumps({{name: getattr(settings, name) for name in {names}}}, default=str))"
    done = python("-c", f"import json; from config import settings; {asked}", **environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_process_has_one_database_whose_cookies_and_files_are_its_own(quick_python, checkout):
    (checkout / ".env").write_text(f"DEBUG=true\nDATABASES_TOKYO_URL={TOKYO}\nDATABASE_URL={OSAKA}")
    names = ("DATABASES", "SESSION_COOKIE_NAME", "CSRF_COOKIE_NAME", "STORAGES")

    tokyo = settings_of(quick_python, *names, DATABASE="tokyo")
    other = settings_of(quick_python, *names)

    assert list(tokyo["DATABASES"]) == ["default"]
    assert tokyo["DATABASES"]["default"]["NAME"] == "/tmp/tokyo.db"
    assert tokyo["DATABASES"]["default"]["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert other["DATABASES"]["default"]["NAME"] == "osaka"
    assert (tokyo["SESSION_COOKIE_NAME"], other["SESSION_COOKIE_NAME"]) == (
        *("sessionid_tokyo", "sessionid"),
    )
    assert (tokyo["CSRF_COOKIE_NAME"], other["CSRF_COOKIE_NAME"]) == (
        *("csrftoken_tokyo", "csrftoken"),
    )
    for files, folder in [("answers", "answers"), ("pictures", "media")]:
        assert tokyo["STORAGES"][files]["OPTIONS"]["location"] == str(checkout / folder / "tokyo")
        assert other["STORAGES"][files]["OPTIONS"]["location"] == str(checkout / folder)


def test_in_a_bucket_the_keys_of_a_database_begin_with_its_name():
    public = "https://pictures.example.org/"

    tokyo = storages.choose("tokyo", Places("", ""), BUCKETS, {}, public)
    other = storages.choose("", Places("", ""), BUCKETS, {}, public)

    assert {tokyo[files]["OPTIONS"]["prefix"] for files in tokyo} == {"tokyo/"}
    assert {other[files]["OPTIONS"]["prefix"] for files in other} == {""}
    assert tokyo["pictures"]["OPTIONS"]["public_url"] == f"{public}tokyo/"
    assert other["pictures"]["OPTIONS"]["public_url"] == public


def test_without_a_url_a_name_has_an_embedded_server_of_its_own(quick_python, checkout):
    (checkout / ".env").write_text("DEBUG=true\nDATABASES_TOKYO_URL=\n")

    tokyo = settings_of(quick_python, "DATABASES", DATABASE="tokyo")["DATABASES"]["default"]
    other = settings_of(quick_python, "DATABASES")["DATABASES"]["default"]

    assert tokyo["FOLDER"] == str(checkout / ".databases/tokyo/.postgres")
    assert other["FOLDER"] == str(checkout / ".postgres")


def test_a_server_refuses_a_name_without_a_url(quick_python):
    refused = quick_python("manage.py", "check", "--database", "tokyo", DATABASES_TOKYO_URL="")

    assert "  DATABASES_TOKYO_URL: postgresql://" in refused.stderr
    assert "DATABASE_URL: " not in refused.stderr


def test_a_server_that_has_only_databases_with_names_asks_for_a_choice(quick_python):
    refused = quick_python("manage.py", "check", DATABASES_TOKYO_URL=TOKYO)

    assert "or DATABASE: one of tokyo" in refused.stderr


def test_nothing_prints_the_password_of_a_mistyped_address(quick_python):
    mistyped = {"DEBUG": "true", "DATABASES_TOKYO_URL": "postgresq//user:Hidden@h/db"}

    refused = quick_python("manage.py", "check", "--database", "tokyo", **mistyped)
    other = quick_python("manage.py", "check", **mistyped)

    assert refused.returncode == 1
    assert refused.stderr.startswith("ImproperlyConfigured: DATABASES_TOKYO_URL can't be read.")
    assert "Hidden" not in refused.stderr + refused.stdout
    assert other.returncode == 0, other.stderr


@pytest.mark.django_db
@pytest.mark.parametrize("page", ["/admin/", "/admin/jobs/worker/", "/admin/login/"])
def test_every_page_of_the_console_says_which_database_it_is_about(
    page, client, admin_client, settings
):
    settings.UNFOLD = console.unfold("tokyo")

    asks = client if page == "/admin/login/" else admin_client
    told = asks.get(page).text

    title = told[told.index("<title>") : told.index("</title>")]
    assert "Tabie 旅絵 · tokyo" in title
    assert told.count("tokyo") >= 2


@pytest.mark.django_db
def test_what_the_console_says_is_in_no_cookie(admin_client, admin_user):
    answer = admin_client.post(
        f"/admin/auth/user/{admin_user.pk}/password/",
        {"password1": "a-new-Passw0rd", "password2": "a-new-Passw0rd", "usable_password": "true"},
    )

    assert answer.status_code == 302
    assert "messages" not in answer.cookies
    assert "Password changed" in admin_client.get("/admin/auth/user/").text
