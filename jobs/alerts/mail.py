"""A message as an e-mail to ALERT_EMAILS, through Django's own settings for e-mail."""

from smtplib import SMTPException, SMTPResponseException

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.utils.translation import gettext as _

from jobs.alerts import ways
from jobs.alerts.ways import DEADLINE, NotDelivered
from jobs.alerts.wording import Message, in_the_sites_language


def send(message: Message) -> None:
    """Hand it to the mail server; raises NotDelivered if that fails."""
    # The same id whenever it is sent again, so that a mail program can show it once.
    headers = {"Message-ID": f"<{message.id}@{message.site}>", "Auto-Submitted": "auto-generated"}
    letter = EmailMessage(
        subject=f"[{message.site}] {message.text}",
        body=body(message),
        to=list(ways.receivers()),
        headers=headers,
        connection=get_connection(timeout=DEADLINE),
    )
    try:
        letter.send()
    except (SMTPException, OSError) as error:
        raise NotDelivered(f"{settings.EMAIL_HOST}: {described(error)}") from None


def body(message: Message) -> str:
    with in_the_sites_language():
        lines = [message.text, "", _("Began: %s") % _moment(message.began_at)]
        if message.ended_at:
            lines.append(_("Ended: %s") % _moment(message.ended_at))
    return "\n".join([*lines, *([message.url] if message.url else []), ""])


def _moment(moment: object) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S %Z}"


def described(error: Exception) -> str:
    """The kind of error and the server's code: its words may be anybody's."""
    if isinstance(error, TimeoutError):
        return f"no reply within {DEADLINE:g} s"
    code = error.smtp_code if isinstance(error, SMTPResponseException) else ""
    words = code or getattr(error, "strerror", None)
    return f"{type(error).__name__}: {words}" if words else type(error).__name__
