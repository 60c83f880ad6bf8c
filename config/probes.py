"""What load balancers and supervisors ask: does the process live, and can it serve?

Both are answered before Django sees the request. So they need no session, no known host name and
no https, count for no limit, leave no trace, and don't begin with Django's look at the connection
of this thread, which may hang.
"""

import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import timedelta
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from jobs.db import sessions, text
from jobs.db.sessions import Patience

log = logging.getLogger(__name__)

SECONDS = 1.0  # that the database has to answer
FRESH = 1.0  # seconds in which nothing is asked again
HOPELESS = 10.0  # seconds after which a check that hangs is replaced by another one
PATIENCE = Patience(locks=timedelta(seconds=0.7), statements=timedelta(seconds=0.7))

DATABASE, MIGRATIONS = "database", "migrations"

HEADERS = {
    "Content-Type": "text/plain; charset=utf-8",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
}

Start = Callable[[str, list[tuple[str, str]]], object]


def answer(environ: dict[str, Any], start_response: Start) -> Iterable[bytes] | None:
    """The reply to a probe; None if the request is none."""
    fault = fault_at(environ.get("PATH_INFO", ""))
    if fault is None:
        return None
    body = said(fault)
    headers = [*HEADERS.items(), ("Content-Length", str(len(body)))]
    start_response("503 Service Unavailable" if fault else "200 OK", headers)
    return [] if environ.get("REQUEST_METHOD") == "HEAD" else [body]


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """The same through Django, for servers that do not come through config/wsgi.py."""
    fault = fault_at(request.path_info)
    return HttpResponse(said(fault), status=503 if fault else 200, headers=HEADERS)


def fault_at(path: str) -> str | None:
    """One word for what is wrong, empty if nothing is; None if this is the address of no probe."""
    match path:
        case "/healthz":
            return ""  # that it answers is the answer
        case "/readyz":
            return readiness.fault()
        case _:
            return None


def said(fault: str | None) -> bytes:
    return f"{fault or 'ok'}\n".encode()


class Check(threading.Thread):
    """One look at the database, in a thread of its own: no timeout ends a wait in a black hole."""

    def __init__(self, *, is_migrated: bool) -> None:
        super().__init__(name="readiness", daemon=True)
        self.fault = DATABASE  # the first thing that is not known to be well; empty: all is
        self.is_migrated = is_migrated
        self.error: BaseException | None = None
        self.began_at = time.monotonic()
        self.done = threading.Event()
        self.own: Any = None  # its connection

    @property
    def age(self) -> float:
        return time.monotonic() - self.began_at

    @property
    def is_old(self) -> bool:
        return self.age > (FRESH if self.done.is_set() else HOPELESS)

    def run(self) -> None:
        try:
            sessions.own_connection()
            self.own = connections[DEFAULT_DB_ALIAS]
            self.look()
        except Exception as error:  # whatever it is, the site is not ready
            self.error = error
        finally:
            with suppress(Exception):
                connection.close()
            self.done.set()

    def look(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        self.fault = MIGRATIONS
        self.is_migrated = self.is_migrated or has_all_migrations()
        if self.is_migrated:
            self.fault = ""

    def cut(self) -> None:
        """Shut its connection, which wakes a thread that the database has forgotten."""
        with suppress(Exception):  # closed meanwhile, or SQLite, which has no socket
            held = socket.socket(fileno=os.dup(self.own.connection.fileno()))
            held.shutdown(socket.SHUT_RDWR)
            held.close()


def has_all_migrations() -> bool:
    with sessions.short_reading(PATIENCE):
        executor = MigrationExecutor(connection)
        return not executor.migration_plan(executor.loader.graph.leaf_nodes())


class Readiness:
    """What this process knows about its database. One check at a time, however many ask."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.check: Check | None = None
        self.told = ""  # the fault that the log knows of

    def fault(self) -> str:
        """One word for why the site can't serve; empty if it can. Takes a second at most."""
        check = self.current_check()
        check.done.wait(max(0.0, SECONDS - check.age))
        fault = check.fault
        self.tell(fault, check.error)
        return fault

    def current_check(self) -> Check:
        with self.lock:
            last = self.check
            if last and not last.is_old:
                return last
            if last:
                last.cut()
            self.check = Check(is_migrated=last is not None and last.is_migrated)
            self.check.start()
            return self.check

    def tell(self, fault: str, error: BaseException | None) -> None:
        """Log a change, once."""
        with self.lock:
            is_news, self.told = fault != self.told, fault
        if is_news and fault:
            reason = text.message(error) if error else "no answer in time"
            log.warning("Not ready: %s (%s)", fault, text.printable(reason))
        elif is_news:
            log.warning("Ready again.")


readiness = Readiness()
