"""A job's page, the command and the search say where it came from and what it led to."""

import json
from io import StringIO

import pytest
from django.contrib.auth.models import Permission, User
from django.core.management import call_command
from django.db import connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from jobs import queue
from jobs.console import lineage
from jobs.models import job_models, uuid7
from jobs.worker import logs
from tests.jobs.conftest import new_chore
from tests.jobs.console.pages import EVIL, LIST, in_state, page_of
from tests.testapp.models import Chore, Digest, NoopJob

pytestmark = pytest.mark.django_db


def lead_to(job, *children):
    with logs.about(job, "w"):
        for child in children:
            queue.enqueue([child])
    return children


def page(client, job):
    opts = job._meta
    url = reverse(f"admin:{opts.app_label}_{opts.model_name}_change", args=[job.pk])
    return client.get(url).text.partition("All columns")[0]


def link(job):
    return f'href="{reverse(f"admin:testapp_{job._meta.model_name}_change", args=[job.pk])}"'


def show(job):
    out = StringIO()
    call_command("jobs", "show", str(job.pk), stdout=out)
    return out.getvalue()


def facts(job):
    out = StringIO()
    call_command("jobs", "show", str(job.pk), "--json", stdout=out)
    return json.loads(out.getvalue())


# The page


def test_both_pages_lead_to_each_other_whatever_their_kinds(operator, chore):
    [digest] = lead_to(chore, Digest())

    came_from, led_to = page(operator, digest), page(operator, chore)

    assert "came from" in came_from
    assert link(chore) in came_from
    assert link(digest) in led_to.partition("Led to")[2]
    assert "queued" in led_to.partition("Led to")[2]


def test_a_deleted_origin_is_a_text(operator, chore):
    [digest] = lead_to(chore, Digest())
    queue.cancel(Chore.objects.all())
    Chore.objects.all().delete()

    text = page(operator, digest)

    assert f"{chore.pk}, which is deleted" in text
    assert link(chore) not in text


def test_a_job_without_relatives_says_nothing_of_them(operator, chore):
    text = page(operator, chore)

    assert "came from" not in text
    assert "Led to" not in text


def test_kinds_that_a_user_may_not_see_are_not_shown(client, chore):
    user = User.objects.create_user("ada", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_chore"))
    client.force_login(user)
    other = new_chore("other")
    [digest] = lead_to(chore, Digest(topic="a secret"))
    lead_to(digest, Chore(name="third"))

    text = page(client, chore)
    assert str(digest.pk) not in text
    third = Chore.objects.get(name="third")
    assert str(digest.pk) in page(client, third)  # an id tells nothing
    assert link(digest) not in page(client, third)
    lead_to(chore, Chore(name="visible"))
    assert link(Chore.objects.get(name="visible")) in page(client, chore)
    assert str(other.pk) not in page(client, chore)


def test_the_newest_twenty_are_shown_with_a_way_to_all(operator, chore):
    children = lead_to(chore, *(Digest(topic=str(number)) for number in range(22)))

    text = page(operator, chore).partition("Led to")[2]

    assert sum(link(child) in text for child in children) == 20
    assert f"{reverse('admin:testapp_digest_changelist')}?q={chore.pk}" in text


def test_names_of_relatives_are_harmless(operator, chore, monkeypatch):
    monkeypatch.setattr(Digest, "__str__", lambda self: EVIL)
    lead_to(chore, Digest())

    assert "<script>alert" not in page(operator, chore)


def test_the_command_tells_that_a_run_was_started_by_hand(chore):
    Chore.objects.update(schedule_name="weekly")

    assert "schedule: weekly by hand" in show(chore)


def test_schedule_key_and_trace_are_shown(operator):
    job = new_chore("sweep", unique_key="the week")
    text = page_of(operator, job)
    assert "the week" in text
    assert f'<code class="tc-code">{job.pk.hex}</code>' in text
    assert "<dt>schedule</dt>" not in text

    Chore.objects.update(schedule_name="weekly", scheduled_for="2030-01-07T06:00:00Z")

    assert "<dt>schedule</dt><dd>weekly – for 2030-01-07 06:00:00</dd>" in page_of(operator, job)


def test_the_number_of_queries_does_not_grow_with_the_relatives(operator, chore):
    lead_to(chore, Digest())
    page(operator, chore)
    with CaptureQueriesContext(connection) as few:
        page(operator, chore)
    lead_to(chore, *(Digest() for _ in range(30)))

    with CaptureQueriesContext(connection) as many:
        page(operator, chore)

    assert len(many) == len(few)


def test_all_kinds_are_asked_in_one_query(chore, django_assert_num_queries):
    with django_assert_num_queries(1):
        assert lineage.children(chore, job_models()) == []
    with django_assert_num_queries(1):
        assert lineage.find(uuid7()) is None


# The command


def test_the_command_tells_the_same(chore):
    [digest] = lead_to(chore, Digest(unique_key="k"))

    assert f"led to: {digest} (testapp.Digest {digest.pk}): queued" in show(chore)
    told = show(digest)
    assert f"came from: {chore} (testapp.Chore {chore.pk}): queued" in told
    assert "unique key: k" in told
    assert f"trace: {chore.pk.hex}" in told
    assert facts(digest)["came_from"]["kind"] == "testapp.Chore"
    assert [child["id"] for child in facts(chore)["led_to"]] == [str(digest.pk)]


def test_the_command_tells_of_a_deleted_origin_and_of_more_than_it_shows(chore):
    [digest] = lead_to(chore, Digest())
    lead_to(digest, *(NoopJob() for _ in range(21)))
    queue.cancel(Chore.objects.all())
    Chore.objects.all().delete()

    assert f"came from: {chore.pk}, which is deleted" in show(digest)
    assert "led to: more than these 20" in show(digest)


# The search


def test_the_id_of_a_job_finds_what_it_led_to(operator, chore):
    lead_to(chore, Chore(name="child"))
    in_state("failed", "other")

    found = operator.get(LIST, {"q": str(chore.pk)}).context["cl"].result_list

    assert {job.name for job in found} == {"sweep", "child"}


@pytest.mark.postgres
def test_that_search_reads_by_its_indexes(operator):
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO noop_jobs (id, parent_id)"
            " SELECT gen_random_uuid(), gen_random_uuid() FROM generate_series(1, 50000)"
        )
        cursor.execute("ANALYZE noop_jobs")
    job = NoopJob.objects.filter(created_at__lte=Now()).first()
    seen = []

    def watch(run, sql, parameters, *rest):
        if '"noop_jobs"."parent_id" =' in sql:
            seen.append((sql, parameters))
        return run(sql, parameters, *rest)

    with connection.execute_wrapper(watch):
        operator.get(reverse("admin:testapp_noopjob_changelist"), {"q": str(job.pk)})

    assert seen
    for sql, parameters in seen:
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN {sql}", parameters)
            plan = "\n".join(line for (line,) in cursor.fetchall())
        assert "noopjob_parent" in plan
        assert "Seq Scan on noop_jobs" not in plan
