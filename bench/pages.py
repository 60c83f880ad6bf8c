"""python -m bench.pages [--seconds 4]: how fast pages are served, beside a bare view."""

import argparse
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from statistics import mean

import django

from bench.environments import PROJECT, RUN
from bench.load import Load, measure, post, request
from bench.server import running_server
from config.embedded.server import NAME, USER, Server

os.environ |= {
    "DJANGO_SETTINGS_MODULE": "bench.web",
    "PGHOST": str(Server(RUN).sockets),
    "PGUSER": USER,
    "PGDATABASE": NAME,
    "IMAGE_PROVIDER": "painter",
    "PICTURES_FOLDER": str(RUN / "pictures"),
    "BENCH_STATIC": str(RUN / "static"),
}
django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import connection, connections  # noqa: E402
from django.db.models.functions import Now  # noqa: E402

from bench import crowd  # noqa: E402
from config.doors import tokens  # noqa: E402
from config.doors.models import ApiToken  # noqa: E402
from guides import services  # noqa: E402
from guides.models import Guide, SpotDetail, SpotImageJob  # noqa: E402

GUIDES, WAITING, SPOTS = 500, 50, 10
PICTURE = f"/pictures/{'ab' * 32}/1024.webp"
GUNICORN = ["--workers=2", "--threads=4", "--log-level=warning"]

Row = tuple[str, Load, float]  # the last: a bare view's rate, just before and after


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.pages", description=__doc__)
    parser.add_argument("--seconds", type=float, default=4, help="for each kind of request (4)")
    seconds = parser.parse_args().seconds
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # SystemExit runs every `finally`
    with running_server():
        try:
            prepare()
        finally:
            connections.close_all()
        with gunicorn("bench.hello") as bare, gunicorn("config.wsgi") as site:
            rows = list(serving(site, bare, seconds))
            found = crowd.watch(site, f"guide-{GUIDES - 2}")
    show(rows)
    crowd.show(found)


def prepare() -> None:
    """Save 500 guides of 10 spots: most are final, the others wait for all their pictures."""
    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    for n in range(GUIDES):
        guide = Guide(plan_id=f"guide-{n}", title=f"Guide {n}", destination="Kyoto, Japan")
        words = "Ten thousand vermilion gates climb the hill, and every one of them has a name."
        spots = [SpotDetail(spot_name=f"Spot {s}", description=words) for s in range(SPOTS)]
        services.save_guide(guide, spots)
    final = [f"guide-{n}" for n in range(GUIDES - WAITING)]
    SpotDetail.objects.filter(guide__in=final).update(image_url=PICTURE, image_status="succeeded")
    SpotImageJob.objects.filter(plan_id__in=final).update(status="succeeded", finished_at=Now())
    # A few seconds of handing over ask for more pictures than a day's usual quota.
    ApiToken.objects.create(
        name=tokens.SETTING, digest=tokens.IN_ENVIRONMENT, pictures_per_day=None
    )
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


def serving(port: int, bare: int, seconds: float) -> Iterator[Row]:
    final, waiting = "/guides/guide-7/", f"/guides/guide-{GUIDES - 7}/"
    poll = poll_of(port, waiting)
    arrived = poll_of(port, f"/guides/guide-{GUIDES - 1}/")
    bring_pictures(f"guide-{GUIDES - 1}")
    status = f"/api{waiting}status/"
    etag = fetch(port, status)[0]["ETag"]
    page_etag = fetch(port, final)[0]["ETag"]
    home_poll = poll_of(port, "/")
    # More than fit into the time: a guide sent again would not be saved, only compared.
    guides = [hand_over(f"new-{n}") for n in range(int(1_000 * seconds) + 1_000)]
    for each in (port, bare):  # processes that have just started read their templates first
        measure(each, [request("/")], seconds)
    for title, code, requests in [
        ("home, 24 of 500 guides", 200, [request("/")]),
        ("page, all pictures there", 200, [request(final)]),
        ("page, all pictures there, 304", 304, [request(final, If_None_Match=page_etag)]),
        ("page, 10 pictures on their way", 200, [request(waiting)]),
        ("fragment, nothing new", 204, [request(poll)]),
        ("fragment, 10 new pictures", 200, [request(arrived)]),
        ("fragment of home, nothing new", 204, [request(home_poll)]),
        ("status, all pictures there", 200, [request(f"/api{final}status/")]),
        ("status, 10 pictures on their way", 200, [request(status)]),
        ("status, unchanged", 304, [request(status, If_None_Match=etag)]),
        ("a guide of 10 spots handed over", 201, guides),
    ]:
        say(f"{title} …")
        before = measure(bare, [request("/")], seconds / 4)
        load = measure(port, requests, seconds)
        after = measure(bare, [request("/")], seconds / 4)
        if load.statuses != {code}:
            sys.exit(f"{title}: answered {load.statuses}, not {code}")
        yield title, load, (before.rate + after.rate) / 2


def poll_of(port: int, path: str) -> str:
    """The address that this page polls."""
    return re.search(r'hx-get="([^"]+)"', fetch(port, path)[1]).group(1).replace("&amp;", "&")


def bring_pictures(plan_id: str) -> None:
    """Give the guide all its pictures, to be replaced: so its page goes on polling."""
    SpotDetail.objects.filter(guide=plan_id).update(image_url=PICTURE, image_status="processing")
    connections.close_all()


def hand_over(plan_id: str) -> bytes:
    spots = [{"name": f"Spot {n}", "description": "Gates."} for n in range(SPOTS)]
    body = json.dumps({"plan_id": plan_id, "title": "Kyoto", "spots": spots}).encode()
    token = "Bearer the benchmark's"
    return post("/api/guides/", body, Authorization=token, Content_Type="application/json")


def fetch(port: int, path: str) -> tuple[dict[str, str], str]:
    asked = HTTPConnection("127.0.0.1", port)
    asked.request("GET", path, headers={"Host": "localhost"})
    answer = asked.getresponse()
    return dict(answer.headers), answer.read().decode()


@contextmanager
def gunicorn(module: str) -> Iterator[int]:
    """Serve on a free port of this machine until the block ends."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "gunicorn", *GUNICORN, f"--bind=127.0.0.1:{port}", module]
    server = subprocess.Popen(command, cwd=PROJECT, stdin=subprocess.DEVNULL)
    try:
        wait_for(port, server)
        yield port
    finally:
        server.terminate()
        server.wait()


def wait_for(port: int, server: "subprocess.Popen[bytes]") -> None:
    give_up = time.monotonic() + 30
    while server.poll() is None and time.monotonic() < give_up:
        try:
            fetch(port, "/")
            return
        except OSError:
            time.sleep(0.1)
    sys.exit("gunicorn did not start")


def show(rows: list[Row]) -> None:
    print(f"{'':34} {'per s':>7} {'p50 ms':>7} {'p99 ms':>7} {'bytes':>7} {'of bare':>8}")
    for title, load, bare in rows:
        figures = f"{load.rate:7.0f} {load.p50:7.1f} {load.p99:7.1f} {load.bytes:7}"
        print(f"{title:34} {figures} {load.rate / bare:8.2f}")
    print(f"{'a bare Django view':34} {mean(bare for *_, bare in rows):7.0f}")


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
