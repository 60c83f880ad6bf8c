"""One reading of all metrics, shared by everyone who asks within a few seconds."""

import logging
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from django.db import connection

from jobs.db import faults, sessions, text
from jobs.db.sessions import Patience
from jobs.metrics.families import SCRAPE_FAILED, Sample
from jobs.metrics.parts import parts

log = logging.getLogger(__name__)

# Each process has its own reading. Prometheus must ask less often than this: else it may see an
# older one after a newer one, and take the smaller counter for a restart.
FRESH = 5.0  # seconds
LONGEST = 5.0  # seconds after which no further part is begun; Prometheus waits for 10
PATIENCE = Patience(locks=timedelta(seconds=0.5), statements=timedelta(seconds=2))


class Busy(Exception):
    """Another reading is under way, and the database does not answer it."""


@dataclass(frozen=True)
class Reading:
    samples: list[Sample]
    failed: Mapping[str, str]  # parts, and why


class Scraper:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.reading: Reading | None = None
        self.read_at = 0.0
        self.told: set[str] = set()  # the failed parts that the log knows of

    def scrape(self) -> Reading:
        """The metrics of now, or of some seconds ago; raises Busy."""
        if not self.lock.acquire(timeout=LONGEST):
            raise Busy
        try:
            if self.reading is None or time.monotonic() - self.read_at > FRESH:
                self.read_at = time.monotonic()
                self.reading = read()
                self.tell(self.reading.failed)
            return self.reading
        finally:
            self.lock.release()

    def tell(self, failed: Mapping[str, str]) -> None:
        """Log once which parts are missing, and once that they are back."""
        for part in failed.keys() - self.told:
            log.warning("No metrics of %s: %s", part, text.printable(failed[part]))
        if back := self.told - failed.keys():
            log.warning("There are metrics of %s again.", ", ".join(sorted(back)))
        self.told = set(failed)


def read() -> Reading:
    """Read every part. What fails is told as failed, and never as 0."""
    samples: list[Sample] = []
    failed: dict[str, str] = {}
    began_at, hopeless = time.monotonic(), ""
    known = parts()
    for name, part in known.items():
        if not hopeless and time.monotonic() - began_at > LONGEST:
            hopeless = "The other parts took too long."
        if hopeless:
            failed[name] = hopeless
            continue
        try:
            with sessions.short_reading(PATIENCE):
                samples += list(part())
        except Exception as error:  # also a fault of our own: it must cost no other part
            failed[name] = text.message(error)
            if faults.is_servers(error) or faults.is_lost():
                hopeless = failed[name]
                connection.close()
    samples += [Sample(SCRAPE_FAILED, (name,), (name in failed,)) for name in known]
    return Reading(samples, failed)


scraper = Scraper()
