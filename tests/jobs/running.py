"""A worker's loop in a thread of this process."""

import threading

from django.db import connection


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
