"""A remote maker: the worker waits for a picture and does not paint it."""

import os
import time
from pathlib import Path

from guides.makers import Painter, PictureRequest
from jobs.paid.clients import Answer


class Remote(Painter):
    name = "remote"

    def draw(self, request: PictureRequest, timeout: float) -> Answer:
        time.sleep(float(os.environ["BENCH_REMOTE_SECONDS"]))
        # The prompt at the end makes each file different, so it is stored; no decoder reads it.
        picture = Path(os.environ["BENCH_REMOTE_ANSWER"]).read_bytes()
        return Answer(raw=picture + request.prompt.encode())
