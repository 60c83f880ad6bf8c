"""A provider that works elsewhere: whoever asks waits, and gets a picture without painting it."""

import os
import time
from pathlib import Path

from guides.providers import PictureRequest


class Remote:
    name = "remote"
    model = ""

    def draw(self, request: PictureRequest) -> bytes:
        time.sleep(float(os.environ["BENCH_REMOTE_SECONDS"]))
        # An ending of its own, which no decoder reads, makes it a picture of its own to store.
        return Path(os.environ["BENCH_REMOTE_ANSWER"]).read_bytes() + request.prompt.encode()
