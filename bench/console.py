"""python -m bench.console [--jobs 1000000] [--days 30]: what operators' pages cost the database.

Prints of each page the number of queries and the milliseconds the database took, and the plan of
every query above 50 ms. Then how long a bulk action on 100,000 jobs takes.
"""

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import django

from bench.environments import RUN
from bench.server import running_server
from config.embedded.server import NAME, USER, Server

os.environ |= {
    "DJANGO_SETTINGS_MODULE": "bench.settings",
    "PGHOST": str(Server(RUN).sockets),
    "PGUSER": USER,
    "PGDATABASE": NAME,
    "IMAGE_PROVIDER": "painter",
    "PICTURES_FOLDER": str(RUN / "pictures"),
}
django.setup()

from django.contrib.auth.models import User  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import connection, connections  # noqa: E402
from django.test import Client, override_settings  # noqa: E402

from guides.models import SpotImageJob  # noqa: E402
from jobs.admin import acting  # noqa: E402
from jobs.console import actions  # noqa: E402
from jobs.models import Status  # noqa: E402

SLOW = 50.0  # ms; above it the plan is printed
MOST = 300.0  # ms that a page may take
JOBS = "/admin/guides/spotimagejob/"

FILL = """
INSERT INTO guides (plan_id, title, destination, summary, created_at)
SELECT 'plan-' || n, 'Guide ' || n, 'Japan', '', now() - n * interval '{days} days' / {guides}
FROM generate_series(1, {guides}) n;

INSERT INTO spot_details (plan_id, spot_name, description, position, topic_tags, image_url,
  image_status, blur)
SELECT 'plan-' || (n / 10 + 1), 'Spot ' || n, 'A place.', n % 10, '[]', '', 'not_started', ''
FROM generate_series(0, {jobs} - 1) n;

INSERT INTO spot_image_jobs (id, plan_id, spot_name, status, created_at, run_after, finished_at,
  error_kind, last_error, attempts, locked_at, locked_by, lease_expires_at, epoch)
SELECT uuidv7(made - now()), 'plan-' || (n / 10 + 1), 'Spot ' || n, status, made, made,
  CASE WHEN status IN ('succeeded', 'failed', 'canceled') THEN made + interval '25 s' END,
  CASE WHEN status = 'failed' THEN kind END,
  CASE WHEN status = 'failed' THEN kind || ': the provider said a lot about spot ' || n END,
  CASE WHEN status = 'failed' THEN 3 ELSE 0 END,
  CASE WHEN status = 'processing' THEN now() END,
  CASE WHEN status = 'processing' THEN 'host:' || n % 20 END,
  CASE WHEN status = 'processing' THEN now() + interval '1 h' END, 3
FROM (
  SELECT n, now() - ({jobs} - n) * interval '{days} days' / {jobs} AS made,
    (ARRAY['GarbageAnswer', 'RequestRefused', 'OutOfPatience', 'TimedOut', 'Poisonous'])
      [1 + n % 5] AS kind,
    CASE WHEN n >= {jobs} * 0.9 AND n % 2000 = 0 THEN 'processing'
      WHEN n >= {jobs} * 0.9 THEN 'queued'
      WHEN n % 9 = 0 THEN 'failed' WHEN n % 97 = 0 THEN 'canceled' ELSE 'succeeded' END AS status
  FROM generate_series(0, {jobs} - 1) n
) rows;

INSERT INTO job_attempts (job_id, kind, epoch, worker, started_at, ended_at, outcome, error,
  traceback, steps)
SELECT job.id, 'guides.SpotImageJob', n, 'host:' || n % 20,
  job.created_at + n * interval '1 s', job.created_at + n * interval '22 s',
  CASE WHEN n < 3 THEN (ARRAY['released', 'unavailable', 'failed'])[1 + n % 3]
    WHEN job.status = 'failed' THEN 'failed' ELSE 'succeeded' END,
  CASE WHEN n < 3 THEN 'An error of some length that says what went wrong.' END,
  CASE WHEN n < 3 THEN repeat('  File "somewhere.py", line 1, in perform' || chr(10), 12) END,
  '{{"prompt": 2, "generate": 19371, "check": 280, "store": 1762}}'
FROM spot_image_jobs job, generate_series(1, 3) n ORDER BY job.id;

INSERT INTO provider_calls (provider, job_id, kind, epoch, worker, key, try, payload_hash, state,
  answer_name, cost, started_at, deadline, finished_at)
SELECT CASE WHEN n % 3 = 0 THEN 'openai:gpt-image-2' ELSE 'gemini:flash' END, id,
  'guides.SpotImageJob', 3, 'host:1', md5(id::text), 1, md5(id::text),
  CASE WHEN n % 2000 = 0 THEN 'unknown' WHEN n % 50 = 0 THEN 'failed' ELSE 'stored' END,
  'calls/' || id, 0.04, created_at, created_at + interval '25 s', created_at + interval '20 s'
FROM (SELECT id, created_at, row_number() OVER () AS n FROM spot_image_jobs) job;

INSERT INTO providers (name, price) VALUES ('gemini:flash', 0.04), ('openai:gpt-image-2', 0.05);
INSERT INTO job_workers (name, started_at, last_beat_at, lease_expires_at, slots, version)
SELECT 'host:' || n, now(), now(), now() + interval '1 h', 8, '1' FROM generate_series(1, 20) n;

INSERT INTO django_admin_log (action_time, object_id, object_repr, action_flag, change_message,
  content_type_id, user_id)
SELECT now(), id::text, 'a job', 2, 'Requeued.', (SELECT id FROM django_content_type
  WHERE model = 'spotimagejob'), (SELECT min(id) FROM auth_user)
FROM spot_image_jobs LIMIT 100000;
"""


@dataclass
class Cost:
    """The database queries of one page."""

    queries: int = 0
    milliseconds: float = 0.0
    slow: list[tuple[float, str, Any]] = field(default_factory=list)

    def __call__(self, execute: Callable[..., Any], sql: str, params: Any, *rest: Any) -> Any:
        started = time.perf_counter()
        try:
            return execute(sql, params, *rest)
        finally:
            taken = (time.perf_counter() - started) * 1000
            self.queries += 1
            self.milliseconds += taken
            if taken > SLOW and sql.lstrip().startswith(("SELECT", "WITH")):
                self.slow.append((taken, sql, params))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.console", description=__doc__)
    parser.add_argument("--jobs", type=int, default=1_000_000)
    parser.add_argument("--days", type=float, default=30, help="over which they are spread (30)")
    parser.add_argument("--bulk", type=int, default=100_000, help="jobs of one action (100000)")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # SystemExit runs every `finally`
    plain = {"staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
    from django.conf import settings

    with running_server(), override_settings(STORAGES={**settings.STORAGES, **plain}):
        try:
            call_command("migrate", run_syncdb=True, verbosity=0)
            client = operator()
            fill(options.jobs, options.days)
            too_slow = [page for page in measure(client) if page]
            act(options.bulk)
        finally:
            connections.close_all()
    sys.exit(f"Above {MOST:.0f} ms: {', '.join(too_slow)}" if too_slow else 0)


def operator() -> Client:
    client = Client(headers={"host": "localhost"})
    client.force_login(User.objects.create_superuser("operator"))
    return client


def fill(jobs: int, days: float) -> None:
    with connection.cursor() as cursor:
        for statement in FILL.format(jobs=jobs, guides=max(1, jobs // 10), days=days).split(";\n"):
            if statement.strip():
                say(f"{statement.split('(')[0].strip()} …")
                cursor.execute(statement)
        say("VACUUM ANALYZE …")
        cursor.execute("VACUUM ANALYZE")


def pages() -> Iterator[tuple[str, str, dict[str, Any] | None]]:
    """The title and address of each page, and the data to post, if any."""
    jobs = SpotImageJob.objects
    failed = jobs.filter(status=Status.FAILED).latest("id")
    last_month, yesterday = days_ago(29), days_ago(1)
    yield "dashboard", "/admin/", None
    yield "dashboard, refreshed", "/admin/console/", None
    yield "jobs", JOBS, None
    yield "jobs, page 100", f"{JOBS}?p=100", None
    for status in Status.values:
        yield f"jobs, {status}", f"{JOBS}?status__exact={status}", None
    yield "jobs, one kind of error", f"{JOBS}?error_kind=TimedOut", None
    yield "jobs, failed without a kind", f"{JOBS}?error_kind=–", None
    yield "jobs, ordered by hand", f"{JOBS}?o=-3", None
    yield "jobs, no such error", f"{JOBS}?error_kind=Nothing", None
    yield "jobs, one worker", f"{JOBS}?worker=host:1", None
    yield "jobs, one provider", f"{JOBS}?provider=gemini:flash", None
    yield "jobs, provider without calls", f"{JOBS}?provider=nobody", None
    yield (
        "jobs, one old day",
        f"{JOBS}?created_at_from={last_month}&created_at_to={last_month}",
        None,
    )
    yield (
        "jobs, failed on an old day",
        f"{JOBS}?status__exact=failed&created_at_from={last_month}&created_at_to={last_month}",
        None,
    )
    yield (
        "jobs, queued since yesterday",
        f"{JOBS}?status__exact=queued&created_at_from={yesterday}",
        None,
    )
    yield "jobs, search id", f"{JOBS}?q={failed.id}", None
    yield "jobs, search plan", f"{JOBS}?q=plan-77", None
    yield "jobs, search spot", f"{JOBS}?q=Spot 123", None
    yield "jobs, search nothing", f"{JOBS}?q=Atlantis", None
    yield "failed, search error text", f"{JOBS}?status__exact=failed&q=spot 89", None
    yield "job", f"{JOBS}{failed.id}/change/", None
    across = {"action": "requeue", "select_across": "1", "_selected_action": str(failed.id)}
    yield "preview: requeue all", JOBS, across
    yield "preview: requeue all failed", f"{JOBS}?status__exact=failed", across
    yield (
        "preview: cancel all queued",
        f"{JOBS}?status__exact=queued",
        across | {"action": "cancel"},
    )
    yield "attempts", "/admin/jobs/attempt/", None
    yield "attempts, failed", "/admin/jobs/attempt/?ended=guides.SpotImageJob failed", None
    yield "attempts, lost (none)", "/admin/jobs/attempt/?ended=guides.SpotImageJob lost", None
    yield "attempts of a job", f"/admin/jobs/attempt/?q={failed.id}", None
    yield "calls", "/admin/jobs/call/", None
    yield "calls, unknown", "/admin/jobs/call/?seen=no", None
    yield "calls, one provider", "/admin/jobs/call/?provider=gemini:flash", None
    yield "calls, failed", "/admin/jobs/call/?state__exact=failed", None
    yield (
        "calls, one old day",
        f"/admin/jobs/call/?started_at_from={last_month}&started_at_to={last_month}",
        None,
    )
    yield "providers", "/admin/jobs/provider/", None
    yield "provider", "/admin/jobs/provider/gemini_3Aflash/change/", None
    yield "workers", "/admin/jobs/worker/", None
    yield "guides", "/admin/guides/guide/", None
    yield "guides, search", "/admin/guides/guide/?q=Guide 777", None
    yield "guide", "/admin/guides/guide/plan-5/change/", None
    yield "spots", "/admin/guides/spotdetail/", None
    yield "spot", f"/admin/guides/spotdetail/{failed.spots().get().pk}/change/", None
    yield "versions", "/admin/guides/spotimage/", None


def days_ago(days: int) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(time.time() - days * 86_400))


def measure(client: Client) -> Iterator[str]:
    """Print a line per page; yields the titles of pages that take too long."""
    print(f"{'page':34} {'queries':>7} {'database ms':>11}")
    for title, address, data in pages():
        ask(client, address, data)  # the first request fills the caches
        cost = Cost()
        with connection.execute_wrapper(cost):
            answer = ask(client, address, data)
        assert answer.status_code == 200, f"{address}: {answer.status_code}"
        print(f"{title:34} {cost.queries:7} {cost.milliseconds:11.1f}", flush=True)
        for taken, sql, params in cost.slow:
            explain(taken, sql, params)
        yield title if cost.milliseconds > MOST else ""


def ask(client: Client, address: str, data: dict[str, Any] | None) -> Any:
    if data is None:
        return client.get(address, secure=True)
    return client.post(address, data, secure=True)


def explain(taken: float, sql: str, params: Any) -> None:
    print(f"    {taken:.0f} ms: {sql[:300]}")
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) {sql}", params)
        for (line,) in cursor.fetchall()[:40]:
            print(f"        {line[:160]}")


def act(number: int) -> None:
    """Run a bulk action on many jobs, in requests as long as those of a button."""
    user = User.objects.get(username="operator")
    for name, status in (("requeue", Status.FAILED), ("cancel", Status.QUEUED)):
        jobs = SpotImageJob.objects.filter(status=status)
        changed, requests, longest, after = 0, 0, 0.0, None
        started = time.perf_counter()
        while changed < number:
            began = time.perf_counter()
            result = actions.carry_out(actions.ACTIONS[name], jobs, user, after, acting.SECONDS)
            longest = max(longest, time.perf_counter() - began)
            changed, requests, after = changed + result.changed, requests + 1, result.last
            if after is None:
                break
        seconds = time.perf_counter() - started
        print(
            f"{name}: {changed} jobs in {seconds:.1f} s ({changed / seconds:.0f}/s),"
            f" {requests} requests, the longest {longest:.1f} s"
        )


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
