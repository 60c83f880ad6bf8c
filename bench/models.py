import os

from django.db import models

from bench.tasks import TASKS
from jobs.models import Job
from jobs.run import Run


class BenchJob(Job):
    """Does one of the benchmark's tasks."""

    task = models.TextField()
    sent_at = models.FloatField(db_default=0)

    class Meta(Job.Meta):
        db_table = "bench_jobs"

    def perform(self, run: Run) -> None:
        TASKS[self.task](self.sent_at)


def make_kind(number: int) -> type[Job]:
    """One more kind of job, with a table of its own."""
    meta = type("Meta", (Job.Meta,), {"db_table": f"bench_kind_{number}"})
    return type(f"Kind{number}", (Job,), {"__module__": __name__, "Meta": meta})


KINDS = [make_kind(number) for number in range(int(os.environ.get("BENCH_KINDS", "0")))]
