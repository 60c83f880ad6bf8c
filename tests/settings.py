"""The settings under test, with the queue's own job models and a database that may forget."""

import os

os.environ["DEBUG"] = "true"  # tests need no production secrets
# Whatever .env says, nothing here leaves the machine.
os.environ |= {"S3_BUCKET": "", "IMAGE_PROVIDER": ""} | os.environ

from config.embedded import server
from config.settings import *  # noqa: F403
from config.settings import BASE_DIR, DATABASE_URL, DATABASES, INSTALLED_APPS, tune

INSTALLED_APPS = [*INSTALLED_APPS, "tests.testapp"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
WHITENOISE_AUTOREFRESH = True  # no static files have been collected

TEST_CLUSTER = server.Server(BASE_DIR / ".postgres-test", durable=False)
if not DATABASE_URL and server.binaries():
    DATABASES = {"default": tune(server.database(TEST_CLUSTER.folder, durable=False))}

database = DATABASES["default"]
# Named by process: two runs at once in one checkout leave each other alone.
if database["ENGINE"].endswith("sqlite3"):
    # A file and not memory: threads and processes share it.
    database["TEST"] = {"NAME": str(BASE_DIR / f".test-{os.getpid()}.sqlite3")}
    database["OPTIONS"]["init_command"] = "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF"
else:
    database["TEST"] = {"NAME": f"test_tabie_{os.getpid()}"}
