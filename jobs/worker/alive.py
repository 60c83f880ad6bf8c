"""Signs of life for those who watch this process from outside: the age of a file, and systemd.

They tell that the process is neither frozen nor stuck, and not that the database answers: no
restart of a worker brings a database back.
"""

import logging
import os
import socket
from contextlib import suppress
from pathlib import Path

log = logging.getLogger(__name__)


class SignsOfLife:
    """Given by every beat, whether the database confirmed it or not.

    A beat that blocks gives none. The worker's own watchdog ends the process after a lease of
    that, so a probe from outside must wait for longer: two leases.
    """

    def __init__(self, file: Path | None = None, *, is_guest: bool = False) -> None:
        self.file = file
        self.is_guest = is_guest
        self.is_written = True

    def begin(self) -> None:
        self.tell_systemd("READY=1")

    def tell_systemd(self, state: str) -> None:
        """A guest says nothing: systemd would take its end for that of the web server."""
        if not self.is_guest:
            notify(state)

    def give(self) -> None:
        self.tell_systemd("WATCHDOG=1")
        if self.file:
            self.touch(self.file)

    def touch(self, file: Path) -> None:
        try:
            file.touch()
            self.is_written = True
        except OSError as error:  # the jobs go on
            if self.is_written:
                log.warning("The worker lives, but can't show it: %s", error)
            self.is_written = False

    def stop(self) -> None:
        """The worker is about to end; until then it keeps giving signs."""
        self.tell_systemd("STOPPING=1")

    def end(self) -> None:
        """Leave no file that could pass for a worker."""
        self.stop()  # again: an idle worker has had nothing to give back
        if self.file:
            with suppress(OSError):
                self.file.unlink(missing_ok=True)


def notify(state: str) -> None:
    """Tell systemd, if it started this process with Type=notify. It never waits for it."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    if address.startswith("@"):  # an abstract socket, which is no file
        address = "\0" + address[1:]
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
        channel.setblocking(False)
        channel.sendto(state.encode(), address)


def watchdog_seconds() -> float | None:
    """After how long without a sign systemd ends this process; None if it does not watch it."""
    own = str(os.getpid())
    microseconds = os.environ.get("WATCHDOG_USEC", "")
    is_watched = os.environ.get("WATCHDOG_PID", own) == own and microseconds.isdecimal()
    return int(microseconds) / 1_000_000 if is_watched else None
