"""The job that looks for alerts; `messages` has the one that sends them."""

from datetime import timedelta
from typing import Any, ClassVar

from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from jobs.alerts import looking, ways
from jobs.alerts.messages import AlertMessage as AlertMessage
from jobs.errors import Cancel
from jobs.models import Job
from jobs.run import Run
from jobs.schedules import Every

KEPT = timedelta(hours=1)
CHUNK = 500
# Why a look was canceled: stored in English, translated when it is shown.
NOBODY = gettext_noop("Neither ALERT_WEBHOOK_URL nor ALERT_EMAILS is set.")


class AlertLook(Job):
    """Compares what needs a person now with the open alerts, once a minute."""

    # Read at every deployment: with neither setting there is nobody to tell.
    schedule: ClassVar[Any] = Every(minutes=1) if ways.configured() else None

    is_housekeeping = True

    class Meta(Job.Meta):
        db_table = "alert_looks"
        verbose_name = _("look for alerts")
        verbose_name_plural = _("looks for alerts")

    def perform(self, run: Run) -> Any:
        delete_old_looks()
        if not ways.configured():
            raise Cancel(NOBODY)
        looking.look()


def delete_old_looks() -> None:
    """Keep the table small. If looks still fail, the failures of the last hour say so."""
    old = AlertLook.objects.ended().filter(finished_at__lt=Now() - KEPT).order_by("id")
    AlertLook.objects.filter(pk__in=list(old.values_list("pk", flat=True)[:CHUNK])).delete()
