"""python -m bench.pictures [--seconds 2]: what a guide's pictures cost whoever saves it."""

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from unittest.mock import patch

import django

from bench.environments import PROJECT, RUN
from bench.server import running_server
from config.embedded.server import NAME, USER, Server

os.environ |= {
    "DJANGO_SETTINGS_MODULE": "bench.settings",
    "PGHOST": str(Server(RUN).sockets),
    "PGUSER": USER,
    "PGDATABASE": NAME,
    "IMAGE_PROVIDER": "painter",
    "PICTURES_FOLDER": str(RUN / "pictures"),
    "ANSWERS_FOLDER": str(RUN / "answers"),
    "BENCH_REMOTE_ANSWER": str(RUN / "answer.png"),
}
django.setup()

from django.core.files.storage import storages  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import connection, connections  # noqa: E402

from guides import demo, images, painter, services  # noqa: E402
from guides.makers import UNPAINTABLE  # noqa: E402
from guides.models import Guide, ImageStatus, SpotDetail  # noqa: E402
from jobs.models import Provider, Worker  # noqa: E402

SAVES = 50
PICTURES = 5
WATCH = 0.02  # seconds between two checks whether a picture is ready
PATIENCE = 60  # seconds, besides the provider's own
PLACES = [spot for _, spots in demo.GUIDES for spot in spots if UNPAINTABLE not in spot[2]]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.pictures", description=__doc__)
    parser.add_argument("--seconds", type=float, default=20, help="that a slow provider takes (20)")
    slow = parser.parse_args().seconds
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # SystemExit runs every `finally`
    with running_server():
        try:
            call_command("migrate", verbosity=0)
            rows = [*saving(), *painting(), *waiting(slow), *waiting_and_painting(slow)]
        finally:
            connections.close_all()
    width = max(len(title) for title, _ in rows)
    for title, figure in rows:
        print(f"{title:{width}}  {figure:>6}")


Rows = list[tuple[str, str]]


def saving() -> Rows:
    """Save alternately with and without the queue, so that a busy machine slows both."""
    say("saving …")
    with_queue, without = [], []
    for _ in range(SAVES):
        with_queue.append(timed(lambda: save(10)))
        with patch("guides.models.spot.enqueue_missing"):
            without.append(timed(lambda: save(10)))
    ratio = median(with_queue) / median(without)
    return [
        ("save a guide of 10 spots, ms", f"{median(with_queue) * 1000:.1f}"),
        ("  the same without the queue, ms", f"{median(without) * 1000:.1f}"),
        ("  ratio", f"{ratio:.2f}"),
    ]


def painting() -> Rows:
    say("painting …")
    with worker(PAINTER_SECONDS=0):
        until_shown(1)  # the first picture loads the fonts
        seconds = [until_shown(1) for _ in range(PICTURES)]
    return [("from commit to picture stored and shown, ms", f"{median(seconds) * 1000:.0f}")]


def waiting(slow: float) -> Rows:
    """Measure with a remote provider: the worker only waits."""
    Path(os.environ["BENCH_REMOTE_ANSWER"]).write_bytes(painter.paint(*PLACES[0], "Kyoto, Japan"))
    Provider.objects.create(name="remote", requests_per_minute=None)
    title = f"{PICTURES} pictures, {slow:g} s each at a remote provider, s"
    with worker(IMAGE_PROVIDER="remote", BENCH_REMOTE_SECONDS=slow):
        return many_and_one(title, slow)


def waiting_and_painting(slow: float) -> Rows:
    """Measure with the painter, which waits and then keeps this machine's processors busy."""
    title = f"{PICTURES} pictures, {slow:g} s each and then painted here, s"
    with worker(PAINTER_SECONDS=slow):
        return many_and_one(title, slow)


def many_and_one(title: str, slow: float) -> Rows:
    """Measure many pictures first: they include the worker's warm-up."""
    say(f"{title} …")
    many = until_shown(PICTURES, slow)
    one = until_shown(1, slow)
    return [
        (title, f"{many:.2f}"),
        ("  one such picture, s", f"{one:.2f}"),
        ("  ratio", f"{many / one:.3f}"),
    ]


def save(spots: int) -> Guide:
    return services.save_guide(
        Guide(title="Benchmark", destination="Kyoto, Japan"),
        [
            SpotDetail(spot_name=name, description=text, topic_tags=tags)
            for name, text, tags in islice(places, spots)
        ],
    )


places = cycle(PLACES)  # new places each time: a known picture would not be stored again


def until_shown(spots: int, provider_seconds: float = 0) -> float:
    """Save a guide; returns the seconds from its commit until all its pictures are shown."""
    guide = save(spots)
    committed = time.perf_counter()
    missing = SpotDetail.objects.filter(guide=guide, image_url="")
    while missing.exists():
        late = time.perf_counter() - committed > PATIENCE + provider_seconds
        if late or missing.filter(image_status=ImageStatus.FAILED).exists():
            sys.exit(f"A picture is missing. The worker says: {worker_log().read_text()[-2000:]}")
        time.sleep(WATCH)
    seconds = time.perf_counter() - committed
    for spot in guide.spots.all():
        for candidate in images.srcset(spot.image_url).split(", "):
            assert storages["pictures"].exists(candidate.split()[0].lstrip("/")), candidate
    return seconds


@contextmanager
def worker(**environment: object) -> Iterator[None]:
    """Start a worker process of 8 slots and wait until it is idle."""
    forget()
    added = {name: str(value) for name, value in environment.items()}
    with worker_log().open("w") as log:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "django", "runworker", "--max-concurrent", "8"),
                *("--jobs", "guides.SpotImageJob"),
            ],
            cwd=PROJECT,
            env={**os.environ, **added},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    try:
        while not Worker.objects.exists():
            if process.poll() is not None:
                sys.exit(f"The worker ended: {worker_log().read_text()[-2000:]}")
            time.sleep(0.1)
        time.sleep(1)  # until it listens
        yield
    finally:
        process.terminate()
        try:
            process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def worker_log() -> Path:
    return RUN / "worker.log"


def forget() -> None:
    """Empty all tables that the last measurement filled."""
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE guides, spot_image_jobs, job_attempts, job_workers CASCADE")


def timed(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
