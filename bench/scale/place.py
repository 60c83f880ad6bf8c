"""Where `bench.scale` measures: a site on the benchmark's server, with 100 more kinds of job."""

import os

import django

from bench.environments import RUN
from config.embedded.server import NAME, SETTINGS, USER, Server

SERVER = Server(RUN)
SETTINGS["max_connections"] = "400"  # each worker has three

os.environ |= {
    "DJANGO_SETTINGS_MODULE": "bench.settings",
    "PGHOST": str(SERVER.sockets),
    "PGUSER": USER,
    "PGDATABASE": NAME,
    "BENCH_KINDS": "100",
    "IMAGE_PROVIDER": "painter",
    "PICTURES_FOLDER": str(RUN / "pictures"),
}
django.setup()

from django.db import connection  # noqa: E402

from bench.models import KINDS, BenchJob  # noqa: E402
from jobs.models import job_models  # noqa: E402

ALL = job_models()
USUAL = [model for model in ALL if model not in KINDS]  # as many as this site has

__all__ = ["ALL", "SERVER", "USUAL", "BenchJob", "run_sql"]


def run_sql(*statements: str) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
