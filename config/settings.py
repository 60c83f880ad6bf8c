"""Every setting comes from the environment, or from the file .env beside manage.py."""

import os
from decimal import Decimal
from pathlib import Path

import environ
from django.http.request import split_domain_port
from django.utils.translation import gettext_lazy as _

from config import console, database_names, databases, logs, mail, protection, storages
from jobs.settings import DEFAULTS as defaults

BASE_DIR = Path(__file__).resolve().parent.parent
DEVELOPMENT_KEY = f"{protection.INSECURE}good-enough-for-development-only"

env = environ.Env()
if (BASE_DIR / ".env").exists():
    env.read_env(BASE_DIR / ".env")

DEBUG = env.bool("DEBUG", False)
# Not through env(): it reads a leading "$" as the name of another variable.
SECRET_KEY = os.environ.get("SECRET_KEY") or DEVELOPMENT_KEY
# Old keys: what they signed stays valid while the key is being changed.
_old_keys = os.environ.get("SECRET_KEY_FALLBACKS", "").split(",")
SECRET_KEY_FALLBACKS = [key.strip() for key in _old_keys if key.strip()]
ALLOWED_HOSTS = env.str("ALLOWED_HOSTS", "").replace(",", " ").split()
# The database that this process serves. Without a name it is that of DATABASE_URL.
_chosen = database_names.choose(env.str("DATABASE", ""))
DATABASE, DATABASE_URL = _chosen.name, _chosen.url


if not DEBUG:
    protection.refuse_without(SECRET_KEY, ALLOWED_HOSTS, _chosen, SECRET_KEY_FALLBACKS)
_host = next((host for host in ALLOWED_HOSTS if not host.startswith(".")), "")
# Django's list has no ports. A name with its port says where else the site is reached.
HOSTS_WITH_PORT = [host for host in ALLOWED_HOSTS if split_domain_port(host)[1]]
ALLOWED_HOSTS = [split_domain_port(host)[0] or host for host in ALLOWED_HOSTS]


# Database

DATABASES = {"default": databases.tune(databases.choose(_chosen, BASE_DIR))}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
# The longest that a statement of a web request may take, in seconds. 0: no limit.
WEB_STATEMENT_TIMEOUT = env.float("WEB_STATEMENT_TIMEOUT", 10)
protection.check_limit("WEB_STATEMENT_TIMEOUT", WEB_STATEMENT_TIMEOUT, most=24 * 60 * 60)


# Applications

INSTALLED_APPS = [
    "unfold",  # before the admin, whose templates it replaces
    "unfold.contrib.filters",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "config",
    "jobs",
    "guides",
]

# Django's Tasks API, on this queue. Before Django 6.0 it is the package django-tasks.
TASKS = {"default": {"BACKEND": "jobs.tasks.Backend"}}

MIDDLEWARE = [
    "config.tracing.middleware",  # first: every line of a request names its trace
    "config.headers.middleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "config.csp.middleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "config.timeouts.Middleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "config.bodies.middleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "config.charsets.middleware",
    "config.doors.visitors.middleware",
    "config.doors.sessions.middleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

LOGIN_REDIRECT_URL = "/admin/"  # only these pages need a login


# Pages that are kept in memory, in each process (docs/pages.md). 0: none.

PAGE_MEMORY_MB = max(0.0, env.float("PAGE_MEMORY_MB", 0 if DEBUG else 32))


# Security

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in [
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    ]
]

DATA_UPLOAD_MAX_NUMBER_FIELDS = 10_000  # a guide of 500 spots is one form
DATA_UPLOAD_MAX_MEMORY_SIZE = 10_000_000  # a million letters, nine bytes each in a form
DATA_UPLOAD_MAX_NUMBER_FILES = 0  # no page takes files

SESSION_COOKIE_AGE = int(env.float("SESSION_HOURS", 24) * 60 * 60)  # without use
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = not DEBUG
SESSION_COOKIE_NAME = database_names.cookie("sessionid", DATABASE)
CSRF_COOKIE_NAME = database_names.cookie("csrftoken", DATABASE)
# Not in a cookie, which the console of another database would show.
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
SECURE_SSL_REDIRECT = env.bool("SECURE_SSL_REDIRECT", not DEBUG)
SECURE_HSTS_SECONDS = 0 if DEBUG else 30 * 24 * 60 * 60
# Other subdomains may not be ours, so HSTS does not include them.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
# Any client can send this header: trust it only behind a proxy that always sets it.
TRUST_PROXY = env.bool("TRUST_PROXY", False)
if TRUST_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
# For /.well-known/security.txt. Empty: there is none.
SECURITY_CONTACT = protection.contact(env.str("SECURITY_CONTACT", ""))
DEFAULT_EXCEPTION_REPORTER_FILTER = "config.protection.ReportFilter"
# Proxies before that one, whose entries in X-Forwarded-For are skipped: addresses or networks.
TRUSTED_PROXIES = protection.networks(env.str("TRUSTED_PROXIES", ""))
# How many pages one address may ask for. 0: no limit.
VISITOR_REQUESTS_PER_MINUTE = env.int("VISITOR_REQUESTS_PER_MINUTE", 1200)
protection.check_limit("VISITOR_REQUESTS_PER_MINUTE", VISITOR_REQUESTS_PER_MINUTE, most=1_000_000)


# Allows other systems to hand over guides at /api/guides/, as the tokens in the admin do.
API_TOKEN = protection.secret("API_TOKEN", danger="spend your money")
# Lets Prometheus read /metrics. Without it there is no such page.
METRICS_TOKEN = protection.secret("METRICS_TOKEN", danger="read how much is done and spent")
protection.check_package("METRICS_TOKEN", METRICS_TOKEN, "prometheus_client", "metrics")
# Opens /internal/run-jobs/, for hosts where no worker may stay (docs/servers.md).
INTERNAL_SECRET = protection.secret("INTERNAL_SECRET", danger="start your jobs")


# Language and time

LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("ja", _("Japanese"))]
TIME_ZONE = env.str("TIME_ZONE", "UTC")
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_TZ = True
FORMAT_MODULE_PATH = "config.formats"


# Static files

STATIC_URL = "static/"
STATIC_ROOT = BASE_DIR / "staticfiles"


# Stored files: pictures, and the raw answers of providers (docs/storage.md)

PICTURES_FOLDER = env.str("PICTURES_FOLDER", str(BASE_DIR / "media"))
ANSWERS_FOLDER = env.str("ANSWERS_FOLDER", str(BASE_DIR / "answers"))
S3_BUCKET = env.str("S3_BUCKET", "")
S3_PRIVATE_BUCKET = env.str("S3_PRIVATE_BUCKET", "") or S3_BUCKET
S3_ENDPOINT_URL = env.str("S3_ENDPOINT_URL", "")
S3_PUBLIC_URL = env.str("S3_PUBLIC_URL", "")
# boto itself reads AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, also from .env, which read_env()
# loads into the environment. So roles and session tokens work, and no secret is kept here.
AWS_REGION = env.str("AWS_REGION", "") or "us-east-1"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
    **storages.choose(
        DATABASE,
        folders=storages.Places(PICTURES_FOLDER, ANSWERS_FOLDER),
        buckets=storages.Places(S3_BUCKET, S3_PRIVATE_BUCKET),
        service={"endpoint_url": S3_ENDPOINT_URL, "region": AWS_REGION},
        public_url=S3_PUBLIC_URL,
    ),
}


# Pictures

IMAGE_PROVIDER = env.str("IMAGE_PROVIDER", "") or "painter"
GEMINI_API_KEY = env.str("GEMINI_API_KEY", "")
GEMINI_BASE_URL = env.str("GEMINI_BASE_URL", "")
GEMINI_MODEL = env.str("GEMINI_MODEL", "gemini-3.1-flash-image")
OPENAI_API_KEY = env.str("OPENAI_API_KEY", "")
OPENAI_BASE_URL = env.str("OPENAI_BASE_URL", "")
OPENAI_MODEL = env.str("OPENAI_MODEL", "gpt-image-2")
PAINTER_SECONDS = env.float("PAINTER_SECONDS", 0.0)
SCRIBE_SECONDS = max(0.0, env.float("SCRIBE_SECONDS", 0.0))
# For the prompts of pictures: free text, written as for an artist.
PICTURE_STYLE = env.str("PICTURE_STYLE", "")
PICTURE_LANGUAGE = env.str("PICTURE_LANGUAGE", "")


# Language models

LLM_PROVIDER = env.str("LLM_PROVIDER", "") or "scribe"
# How a new provider's calls are made: at once, or in batches, later and cheaper.
LLM_BULK_STRATEGY = env.str("LLM_BULK_STRATEGY", "") or defaults["LLM_BULK_STRATEGY"]
protection.check_choice("LLM_BULK_STRATEGY", LLM_BULK_STRATEGY, ["sync", "batch"])
# The least time between two summaries of a topic that come by themselves.
TOPIC_COOLDOWN_HOURS = env.float("TOPIC_COOLDOWN_HOURS", 6.0)
protection.check_limit("TOPIC_COOLDOWN_HOURS", TOPIC_COOLDOWN_HOURS, most=8_760)
GEMINI_TEXT_MODEL = env.str("GEMINI_TEXT_MODEL", "") or defaults["GEMINI_TEXT_MODEL"]
OPENAI_TEXT_MODEL = env.str("OPENAI_TEXT_MODEL", "") or defaults["OPENAI_TEXT_MODEL"]
# Whether a saved guide is translated into the other LANGUAGES by itself.
TRANSLATE_GUIDES = env.bool("TRANSLATE_GUIDES", False)


# Paid calls

# The currency of the providers' prices.
CURRENCY = env.str("CURRENCY", "") or defaults["CURRENCY"]
# For a new provider, until a person has checked its price. Empty: no limit.
_budget = env.str("DEFAULT_DAILY_BUDGET", str(defaults["DEFAULT_DAILY_BUDGET"]))
DEFAULT_DAILY_BUDGET = Decimal(_budget) if _budget else None
# How often the queue repeats a call whose answer was lost; then a person decides.
UNKNOWN_REPEATS = env.int("UNKNOWN_REPEATS", defaults["UNKNOWN_REPEATS"])
# How long a worker keeps an answer in memory while storing it fails.
KEEP_ANSWER_SECONDS = env.float("KEEP_ANSWER_SECONDS", defaults["KEEP_ANSWER_SECONDS"])
# How long a batch collects calls, and how many: a batch is sent when it is full.
BATCH_COLLECT_SECONDS = max(
    0.0, env.float("BATCH_COLLECT_SECONDS", defaults["BATCH_COLLECT_SECONDS"])
)
BATCH_MOST_CALLS = max(1, env.int("BATCH_MOST_CALLS", defaults["BATCH_MOST_CALLS"]))
BATCH_MOST_BYTES = env.int("BATCH_MOST_BYTES", defaults["BATCH_MOST_BYTES"])
# How long a job waits for a provider that is unavailable before it fails.
PATIENCE_HOURS = env.float("PATIENCE_HOURS", 24)


# Operators

UNFOLD = console.unfold(DATABASE)
# A job that stays due this long without being claimed needs a person.
WAITING_TOO_LONG_MINUTES = env.float(
    "WAITING_TOO_LONG_MINUTES", defaults["WAITING_TOO_LONG_MINUTES"]
)

# Where alerts go (docs/alerts.md). Without a webhook and without receivers there are none.
ALERT_WEBHOOK_URL = protection.address("ALERT_WEBHOOK_URL", env.str("ALERT_WEBHOOK_URL", ""))
ALERT_WEBHOOK_SECRET = protection.secret(
    "ALERT_WEBHOOK_SECRET", danger="send false alerts", shortest=16
)
ALERT_EMAILS = protection.receivers("ALERT_EMAILS", env.str("ALERT_EMAILS", ""))
vars().update(mail.read(os.environ.get("EMAIL_URL", ""), is_needed=bool(ALERT_EMAILS)))
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", "") or "webmaster@localhost"
# The address of this site, for links in alerts.
SITE_URL = protection.address("SITE_URL", env.str("SITE_URL", "")).rstrip("/")
if _host and not SITE_URL:
    SITE_URL = f"{'https' if SECURE_SSL_REDIRECT else 'http'}://{_host}"


# Retention, in days after the end. 0: kept for ever.

# Attempts and calls leave the database for files.
LOG_RETENTION_DAYS_DB = env.int("LOG_RETENTION_DAYS_DB", defaults["LOG_RETENTION_DAYS_DB"])
# Raw answers of providers. Their calls leave the database with them.
ANSWER_RETENTION_DAYS = env.int("ANSWER_RETENTION_DAYS", defaults["ANSWER_RETENTION_DAYS"])
EVENT_RETENTION_DAYS = env.int("EVENT_RETENTION_DAYS", defaults["EVENT_RETENTION_DAYS"])
# LLM requests that nothing consumed.
LLM_RETENTION_DAYS = env.int("LLM_RETENTION_DAYS", defaults["LLM_RETENTION_DAYS"])
protection.check_limit("LOG_RETENTION_DAYS_DB", LOG_RETENTION_DAYS_DB, most=36_500)
protection.check_limit("ANSWER_RETENTION_DAYS", ANSWER_RETENTION_DAYS, most=36_500)
protection.check_limit("EVENT_RETENTION_DAYS", EVENT_RETENTION_DAYS, most=36_500)
protection.check_limit("LLM_RETENTION_DAYS", LLM_RETENTION_DAYS, most=36_500)


# Logs. Spans have OpenTelemetry's own variables: see jobs/spans.py.

LOGGING = logs.logging(env.str("LOG_LEVEL", ""), env.str("LOG_FORMAT", "text"), DATABASE)
