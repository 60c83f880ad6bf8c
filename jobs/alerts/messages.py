"""The job that sends one message, and when it must wait or be left out."""

from typing import Any, ClassVar
from uuid import UUID

from django.db import models, transaction
from django.db.models import Subquery
from django.db.models.functions import Now
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop

from jobs import queue
from jobs.alerts import mail, ways, webhook, wording
from jobs.alerts.ways import NotDelivered, Way
from jobs.alerts.wording import Event
from jobs.db import clock
from jobs.errors import Cancel, ProviderUnavailable, Snooze
from jobs.models import Alert, Job
from jobs.run import Run

SENDERS = {Way.WEBHOOK: webhook.send, Way.MAIL: mail.send}
SHORTEST_WAIT, LONGEST_WAIT = 5.0, 600.0  # seconds between two tries
TURN = 30.0  # seconds until it looks again whether it is its turn
TEST = "test"  # key and kind of an alert that is none
TESTED = gettext_noop("Sent a test message.")
# Why a message was canceled: stored in English, translated when it is shown.
OVER = gettext_noop("It ended before this was delivered: the message of the end tells both.")
AGAIN = gettext_noop("The same has begun again, and another message tells that.")


class AlertMessage(Job):
    """Sends one message: an alert has begun, or ended. Tried for a day."""

    alert = models.ForeignKey(
        Alert, models.CASCADE, related_name="messages", verbose_name=gettext_lazy("alert")
    )
    way = models.TextField(gettext_lazy("way"), choices=Way.choices)
    event = models.TextField(gettext_lazy("event"), choices=Event.choices)

    steps: ClassVar = {"send": gettext_lazy("send")}

    class Meta(Job.Meta):
        db_table = "alert_messages"
        verbose_name = gettext_lazy("alert message")
        verbose_name_plural = gettext_lazy("alert messages")
        constraints = [
            *Job.Meta.constraints,
            models.UniqueConstraint(
                fields=["alert", "way", "event"], name="one_message_per_alert_event"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.way}: {self.event}"

    def perform(self, run: Run) -> Any:
        self._leave_out_if_overtaken()
        self._wait_for_earlier_ones()
        message = wording.message(self.pk, self.event, self.alert)
        try:
            with run.step("send"):
                SENDERS[Way(self.way)](message)
        except NotDelivered as error:
            # Limited by time, as any fault of a service is: see Job.patience.
            raise ProviderUnavailable(self._wait(), str(error)) from None

    def _leave_out_if_overtaken(self) -> None:
        """So that a receiver who comes back after a day gets one message, and not a day's."""
        if self.way not in ways.configured():
            raise Cancel(f"There is no longer a setting for {self.way}.")
        if self.event == Event.BEGUN and self.alert.ended_at:
            raise Cancel(OVER)
        own = Alert.objects.filter(pk=self.alert_id).values("began_at")
        if Alert.objects.filter(key=self.alert.key, began_at__gt=Subquery(own)).exists():
            raise Cancel(AGAIN)

    def _wait_for_earlier_ones(self) -> None:
        """An end must not arrive before its beginning: the receiver would wait for another."""
        about_the_same = AlertMessage.objects.filter(way=self.way, alert__key=self.alert.key)
        # Compared by the database: on SQLite a time that was read is not the same text.
        own = AlertMessage.objects.filter(pk=self.pk).values("created_at")
        if about_the_same.living().filter(created_at__lt=Subquery(own)).exists():
            raise Snooze(TURN, "An earlier message about the same is not delivered yet.")

    def _wait(self) -> float:
        """As long again as it has waited already."""
        since = self.unavailable_since
        waited = (clock.now() - since).total_seconds() if since else 0.0
        return min(max(waited, SHORTEST_WAIT), LONGEST_WAIT)


def tell(event: Event, alerts: list[UUID]) -> None:
    """Enqueue the messages about these alerts, in the transaction that changes them."""
    queue.enqueue(
        AlertMessage(alert_id=alert, way=way, event=event)
        for alert in alerts
        for way in ways.configured()
    )


@transaction.atomic
def send_test() -> Alert:
    """Enqueue a message by every way, for a person who wants to see it arrive."""
    now: Any = Now()
    with wording.in_the_sites_language():
        text = _("This is a test of the alerts. Nothing needs a person because of it.")
    alert = Alert(key=TEST, kind=TEST, text=text, ended_at=now)
    alert.save(force_insert=True)
    tell(Event.TEST, [alert.pk])
    return alert
