"""Embedded servers for single tests."""

import os
from pathlib import Path

import psycopg
import pytest

from config.embedded.server import NAME, PORT, USER

ROOT = Path(__file__).parents[2]
NOBODY = 65534
START = (
    "import sys; from pathlib import Path; from config.embedded.server import Server; "
    "server = Server(Path(sys.argv[1]), durable=False); server.start(); print(server.pid())"
)
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


def ask(server, query):
    with psycopg.connect(
        host=str(server.sockets), port=PORT, user=USER, dbname=NAME, autocommit=True
    ) as connection:
        return connection.execute(query).fetchone()[0]
