"""A trace id leads from a line of the log to the jobs, attempts and calls of its trace."""

import json
from io import StringIO

import pytest
from django.contrib.auth.models import Permission, User
from django.core.management import CommandError, call_command
from django.db import connection
from django.urls import reverse

from jobs import queue
from jobs.models import Attempt, Call, in_trace
from tests.jobs.batching import new_member
from tests.jobs.conftest import new_chore
from tests.jobs.console.pages import EVIL, LIST, page_of
from tests.testapp.models import Chore, Digest, NoopJob

pytestmark = pytest.mark.django_db

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
TRACEPARENT = f"00-{TRACE}-00f067aa0ba902b7-01"
TYPED = [TRACE, TRACE.upper(), f" {TRACE} ", TRACEPARENT]


@pytest.fixture
def traced():
    """Two jobs of one trace, of different kinds, beside a third that is of another."""
    job = new_chore("sweep", trace=TRACEPARENT)
    queue.enqueue([Digest(topic="week", trace=TRACEPARENT)])
    new_chore("other", trace=f"00-{'ab' * 16}-{'cd' * 8}-01")
    return job


def found(client, url, term):
    return client.get(url, {"q": term}).context["cl"].result_list


def trace_page(client, term=TRACE):
    return client.get(reverse("admin:jobs_trace", args=[term]))


def listed(*options):
    out = StringIO()
    call_command("jobs", "list", *options, "--json", stdout=out)
    return {row["kind"] for row in json.loads(out.getvalue())}


# The lists


@pytest.mark.parametrize("term", TYPED)
def test_a_list_of_jobs_is_searched_by_trace(operator, traced, term):
    assert found(operator, LIST, term) == [traced]


def test_the_trace_of_a_job_that_nobody_caused_is_found_too(operator, worker, chore):
    queue.enqueue([Chore(name="later", trace=f"00-{chore.pk.hex}-{'cd' * 8}-01")])

    assert {job.name for job in found(operator, LIST, chore.pk.hex)} == {"sweep", "later"}


def test_attempts_and_calls_are_found_by_the_trace_of_their_jobs(operator, worker, traced):
    worker.succeed(*worker.claim(slots=2))
    call = new_member(traced)
    new_member(Chore.objects.get(name="other"))
    attempts, calls = (
        reverse("admin:jobs_attempt_changelist"),
        reverse("admin:jobs_call_changelist"),
    )

    assert [attempt.job_id for attempt in found(operator, attempts, TRACE)] == [traced.pk]
    assert found(operator, calls, TRACE) == [call]
    assert found(operator, calls, str(traced.pk)) == [call]
    assert (Attempt.objects.count(), Call.objects.count()) == (2, 2)


@pytest.mark.parametrize("term", ["0" * 32, "4bf92f35", "no trace", f"{TRACEPARENT}-more"])
def test_what_is_no_trace_finds_nothing(operator, traced, term):
    assert found(operator, LIST, term) == []
    assert found(operator, reverse("admin:jobs_call_changelist"), term) == []


# The page of a trace


@pytest.mark.parametrize("term", [TRACE, TRACE.upper(), TRACEPARENT])
def test_a_page_shows_the_jobs_of_all_kinds(operator, traced, term):
    shown = [job for job, _ in trace_page(operator, term).context["jobs"]]

    assert shown == [Digest.objects.get(), traced]


def test_a_job_leads_to_the_page_of_its_trace(operator, traced):
    page = page_of(operator, traced)

    assert f'data-copy="{TRACE}"' in page
    assert f'href="{reverse("admin:jobs_trace", args=[TRACE])}"' in page


def test_the_admins_search_leads_there_too(operator, traced):
    answer = operator.get("/admin/search/", {"s": TRACEPARENT})

    assert answer.headers["Location"] == reverse("admin:jobs_trace", args=[TRACE])


def test_it_shows_only_kinds_that_the_user_may_see(client, traced):
    user = User.objects.create_user("ada", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_chore"))
    client.force_login(user)

    page = trace_page(client)

    assert [job for job, _ in page.context["jobs"]] == [traced]
    assert page.context["lists"] == []


def test_strangers_see_no_trace(client, traced):
    assert trace_page(client).status_code == 302


def test_a_trace_without_jobs_says_so_and_nonsense_is_not_found(operator):
    assert "No job of this trace" in trace_page(operator).text
    assert trace_page(operator, EVIL.replace("/", "")).status_code == 404


def test_the_names_of_its_jobs_are_harmless(operator, traced, monkeypatch):
    monkeypatch.setattr(Digest, "__str__", lambda self: EVIL)

    assert "<script>alert" not in trace_page(operator).text


# The command


@pytest.mark.parametrize("term", TYPED)
def test_the_command_lists_the_jobs_of_a_trace(traced, term):
    assert listed("--trace", term) == {"testapp.Chore", "testapp.Digest"}
    assert listed("--trace", term, "--kind", "testapp.Digest") == {"testapp.Digest"}


@pytest.mark.parametrize("term", ["", "4bf92f35", "0" * 32])
def test_the_command_refuses_what_is_no_trace(term):
    with pytest.raises(CommandError, match="32 hexadecimal digits") as refused:
        listed("--trace", term)

    assert refused.value.returncode == 2


# Many rows


def test_a_trace_is_looked_up_by_indexes():
    """Also with an order and a limit, for which PostgreSQL would gladly walk all ids instead."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO noop_jobs (id, trace) SELECT gen_random_uuid(), '00-' ||"
                " md5(n::text) || '-00f067aa0ba902b7-01' FROM generate_series(1, 50000) n"
            )
            cursor.execute("ANALYZE noop_jobs")

    plan = NoopJob.objects.filter(in_trace(TRACE)).order_by("-id")[:50].explain()

    assert "noopjob_trace" in plan
    assert "Seq Scan" not in plan
    assert "Scan Backward" not in plan
    assert "SCAN noop_jobs" not in plan
