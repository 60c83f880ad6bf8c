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
