"""The settings under test, with job models for the tests and a database that is not durable."""

import os

os.environ["DEBUG"] = "true"  # tests need no production secrets
# These override .env, so that no test leaves the machine.
os.environ |= {"S3_BUCKET": "", "IMAGE_PROVIDER": "", "LLM_PROVIDER": ""} | os.environ
os.environ |= {"ALERT_WEBHOOK_URL": "", "ALERT_EMAILS": "", "EMAIL_URL": ""} | os.environ
os.environ |= {"DATABASE": "", "OTEL_EXPORTER_OTLP_ENDPOINT": ""} | os.environ

from config.databases import tune
from config.embedded import server
from config.settings import *  # noqa: F403
from config.settings import BASE_DIR, DATABASE_URL, DATABASES, INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.testapp"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
WHITENOISE_AUTOREFRESH = True  # static files are not collected

TEST_CLUSTER = server.Server(BASE_DIR / ".postgres-test", durable=False)
if not DATABASE_URL and server.binaries():
    DATABASES = {"default": tune(server.database(TEST_CLUSTER.folder, durable=False))}

# Named by the process that began the run, so that two runs in one checkout do not meet.
RUN = os.environ.setdefault("TEST_RUN", f"test_tabie_{os.getpid()}")
database = DATABASES["default"]
if database["ENGINE"].endswith("sqlite3"):
    # A file and not memory: threads and processes share it.
    database["TEST"] = {"NAME": str(BASE_DIR / f".{RUN}.sqlite3")}
    database["OPTIONS"]["init_command"] = "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF"
else:
    database["TEST"] = {"NAME": RUN}
