"""The job that removes old rows."""

from datetime import timedelta

from django.utils.translation import gettext_lazy as _

from jobs.archive import retention
from jobs.models import Job
from jobs.run import Run
from jobs.schedules import Daily


class Retention(Job):
    """Archives and deletes what is older than its age; what is left is for the next run."""

    schedule = Daily("03:30")
    # Of one chunk. Not longer than other jobs: a stopping worker waits for the longest timeout.
    timeout = timedelta(minutes=2)
    is_housekeeping = True

    class Meta(Job.Meta):
        db_table = "retention_jobs"
        verbose_name = _("retention run")
        verbose_name_plural = _("retention runs")

    def perform(self, run: Run) -> retention.Done:
        chunks = 0

        def go_on() -> bool:
            nonlocal chunks
            if run.should_stop:
                return False
            chunks += 1
            run.allow(self.timeout)
            run.progress(chunks, chunks + 1)
            return True

        done = retention.retain(go_on)
        run.progress(chunks, chunks, retention.told(done))
        return done
