"""Production settings, for the database that BENCH_URL or PGHOST, PGUSER and PGDATABASE name."""

import os

os.environ |= {
    "DEBUG": "false",  # with DEBUG, Django keeps every query in memory
    "SECRET_KEY": "the benchmark has no secrets at all",
    "ALLOWED_HOSTS": "localhost",
    "DATABASE": "",
    "DATABASE_URL": os.environ.get("BENCH_URL") or f"postgresql:///{os.environ['PGDATABASE']}",
}

from config.settings import *  # noqa: F403
from config.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "bench"]
