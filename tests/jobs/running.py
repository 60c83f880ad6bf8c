"""A worker's loop in a thread of this process."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from django.db import connection

from jobs.worker import stint
from jobs.worker.loop import Loop
from tests.jobs.conftest import in_another_thread


class running:
    """Run a loop in its own thread, and stop it at the end."""

    def __init__(self, loop):
        self.loop = loop
        self.thread = threading.Thread(target=self.run)

    def run(self):
        self.loop.run()
        connection.close()

    def __enter__(self):
        self.thread.start()
        return self.loop

    def __exit__(self, *_):
        self.loop.stop()
        self.thread.join(timeout=60)
        assert not self.thread.is_alive()


def end_time(loop):
    """Let the loop's time be up now, however slow this machine is."""
    loop.bounds.ends_at = time.monotonic()
    loop.bell.ring()


@contextmanager
def begun(monkeypatch, work):
    """Do something that runs a stint, in a thread; yields the loops made, and its result to be."""
    loops = []

    class Seen(Loop):
        def __init__(self, *options):
            super().__init__(*options)
            loops.append(self)

    monkeypatch.setattr(stint, "Loop", Seen)
    with ThreadPoolExecutor() as pool:
        yield loops, pool.submit(in_another_thread, work)
