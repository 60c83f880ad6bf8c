"""The site as gunicorn serves it in production, for `bench.pages`."""

import os

from bench.settings import *  # noqa: F403
from bench.settings import STORAGES

STATIC_ROOT = os.environ["BENCH_STATIC"]
STORAGES = {
    **STORAGES,
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.ManifestStaticFilesStorage"},
}
SECURE_SSL_REDIRECT = False  # the benchmark uses plain http on this machine
API_TOKEN = "the benchmark's"
VISITOR_REQUESTS_PER_MINUTE = 0  # all requests come from one address
