"""One migrated database per run, which its processes copy: migrating would take each seconds."""

import fcntl
import os
from contextlib import contextmanager, suppress

import psycopg
from django.conf import settings
from django.db import connection

NAME = f"{settings.RUN}_template"


def use():
    """Let this process copy the template; the first process of the run makes it."""
    with one_at_a_time():
        if not exists():
            make()
    connection.settings_dict["TEST"] |= {"TEMPLATE": NAME, "MIGRATE": False}


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


def make():
    database, test = connection.settings_dict, connection.settings_dict["TEST"]
    names = database["NAME"], test["NAME"]
    test["NAME"] = NAME
    connection.creation.create_test_db(verbosity=0, autoclobber=True)
    connection.close()
    database["NAME"], test["NAME"] = names


def drop():
    """Not through Django: at the end of a run its connections are blocked."""
    to = connection.get_connection_params() | {"dbname": "postgres", "autocommit": True}
    with suppress(psycopg.OperationalError), psycopg.connect(**to) as server:
        server.execute(f"DROP DATABASE IF EXISTS {NAME}")
