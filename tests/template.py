"""One migrated database per run, which its processes copy: migrating would take each seconds."""

import fcntl
import os
import shutil
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
from django.conf import settings
from django.db import connection

NAME = f"{settings.RUN}_template"
FILE = Path(settings.BASE_DIR, f".{NAME}.sqlite3")


def use():
    """Let this process copy the template; the first process of the run makes it."""
    is_file = connection.vendor == "sqlite"
    with one_at_a_time():
        if is_file and not FILE.exists():
            make(f"{FILE}.new")
            os.replace(f"{FILE}.new", FILE)
        elif not is_file and not exists():
            make(NAME)
    connection.settings_dict["TEST"] |= {"MIGRATE": False}
    if is_file:
        connection.creation._create_test_db = copy_file
    else:
        connection.settings_dict["TEST"] |= {"TEMPLATE": NAME}


@contextmanager
def one_at_a_time():
    file = os.open(settings.TEST_CLUSTER.folder / "template", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(file)


def exists():
    with connection._nodb_cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_database WHERE datname = %s", [NAME])
        return cursor.fetchone() is not None


def make(name):
    database, test = connection.settings_dict, connection.settings_dict["TEST"]
    names = database["NAME"], test["NAME"]
    test["NAME"] = name
    connection.creation.create_test_db(verbosity=0, autoclobber=True)
    connection.close()
    database["NAME"], test["NAME"] = names


def copy_file(verbosity, autoclobber, keepdb=False):
    """As PostgreSQL's CREATE DATABASE ... TEMPLATE, where a database is a file."""
    name = connection.creation._get_test_db_name()
    shutil.copyfile(FILE, name)
    return name


def end_other_sessions():
    """A thread that a test left behind may be connected: then the database can't be dropped."""
    if connection.vendor == "postgresql":
        connection.close()  # a test may have ended it
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )


def drop():
    """Not through Django: at the end of a run its connections are blocked."""
    FILE.unlink(missing_ok=True)
    if connection.vendor != "postgresql":
        return
    to = connection.get_connection_params() | {"dbname": "postgres", "autocommit": True}
    with suppress(psycopg.OperationalError), psycopg.connect(**to) as server:
        server.execute(f"DROP DATABASE IF EXISTS {NAME}")
