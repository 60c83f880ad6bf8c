"""What `manage.py jobs alerts` answers."""

from datetime import datetime
from typing import Any

from django.db import transaction

from jobs.alerts import looking, messages, ways, webhook
from jobs.console import audit, shown
from jobs.console.cli_groups import Printed, misused
from jobs.console.counting import MANY
from jobs.db import clock
from jobs.models import Alert


def alerts(*, test: bool, secret: bool, limit: int, **_: Any) -> Printed:
    """The newest alerts and how they were told; a test message; or the key of the signatures."""
    if secret:
        return Printed({"secret": webhook.secret()}, [webhook.secret()])
    if test:
        return _test()
    newest = Alert.objects.order_by("-began_at").prefetch_related("messages")
    now = clock.now()
    found = [_alert(alert, now) for alert in newest[: max(0, min(limit, MANY))]]
    return Printed(found, [_line(each) for each in found])


def _test() -> Printed:
    if not ways.configured():
        raise misused("Neither ALERT_WEBHOOK_URL nor ALERT_EMAILS is set: nobody can be told.")
    with transaction.atomic():
        alert = messages.send_test()
        audit.note(audit.command_line(), [alert], messages.TESTED)
    sent = [_message(message) for message in alert.messages.all()]
    lines = [f"{each['way']} to {each['to']}: manage.py jobs show {each['id']}" for each in sent]
    return Printed(sent, ["A worker sends the test message:", *lines])


def _alert(alert: Alert, now: datetime) -> dict[str, Any]:
    return {
        "id": str(alert.pk),
        "kind": alert.kind,
        "key": alert.key,
        "text": alert.text,
        "began_at": alert.began_at,
        "seen_at": alert.seen_at,
        "ended_at": alert.ended_at,
        "current": looking.is_current(alert, now),
        "messages": [_message(message) for message in alert.messages.all()],
    }


def _message(message: Any) -> dict[str, Any]:
    return {
        "id": str(message.pk),
        "way": message.way,
        "event": message.event,
        "to": ways.destination(message.way),
        "status": message.status,
    }


def _line(alert: dict[str, Any]) -> str:
    sent = [f"{each['way']} {each['event']}: {each['status']}" for each in alert["messages"]]
    since, until = shown.moment(alert["began_at"]), shown.moment(alert["ended_at"])
    stale = "" if alert["current"] else f"  last checked {shown.moment(alert['seen_at'])}"
    return f"{since}  {until:19}  {alert['text']}{stale}  ({', '.join(sent) or 'not told'})"
