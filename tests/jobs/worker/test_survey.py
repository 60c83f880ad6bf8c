"""What an idle worker asks the database."""

import math

import pytest
from django.db import connection

from jobs.worker import survey
from jobs.worker.loop import Loop
from jobs.worker.options import Options
from tests.testapp.models import Chore, Hooked, NoopJob

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_idle_worker_asks_one_question_for_all_models(django_assert_max_num_queries):
    worker = Loop([Chore, NoopJob, Hooked], Options())
    worker.heartbeat.beat()
    worker.lookout.schedules_at = math.inf  # they are looked at less often

    with django_assert_max_num_queries(4):  # BEGIN, limits, the question, COMMIT
        worker.look()


@pytest.mark.postgres
def test_an_idle_look_reads_nothing_of_later_jobs():
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO noop_jobs (id, run_after)"
            " SELECT gen_random_uuid(), now() + interval '1 day' FROM generate_series(1, 20000)"
        )
        cursor.execute("ANALYZE noop_jobs")
    worker = Loop([NoopJob], Options())
    worker.heartbeat.beat()

    seen = []
    with connection.execute_wrapper(lambda run, *query: (seen.append(query[:2]), run(*query))[1]):
        survey.ask([NoopJob], worker.name)
    statement, parameters = seen[-1]
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS) {statement}", parameters)
        plan = "\n".join(line for (line,) in cursor.fetchall())

    assert "Seq Scan on noop_jobs" not in plan
    assert int(plan.split("shared hit=")[1].split()[0]) < 40
