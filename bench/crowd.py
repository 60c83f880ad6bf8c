"""A thousand visitors read one guide while its pictures arrive."""

import asyncio
import random
import re
import sys
import time
from dataclasses import dataclass, field
from statistics import median, quantiles

from django.db import connections, transaction
from django.db.models.functions import Now

from bench.load import Client, request
from guides.models import SpotDetail, SpotImageJob

VISITORS = 1_000
CONNECTIONS = 64  # of the proxy in front
EVERY = 2.0  # seconds between two pictures
SOONEST, LATEST, SLOWER = 2.0, 15.0, 1.4  # seconds between two polls, as in live.js
POLL = re.compile(rb'hx-get="([^"]+)"')
PICTURE = re.compile(rb'src="(/pictures/[^"]+)"')


@dataclass
class Found:
    """What the visitors waited for."""

    begun: float = field(default_factory=time.perf_counter)
    seconds: float = 0.0
    pictures: dict[bytes, float] = field(default_factory=dict)  # address -> when it was committed
    answers: list[float] = field(default_factory=list)  # seconds for each answer
    seen_after: list[float] = field(default_factory=list)  # seconds, by visitor and picture


def watch(port: int, plan_id: str) -> Found:
    return asyncio.run(_watch(port, plan_id))


async def _watch(port: int, plan_id: str) -> Found:
    found = Found()
    proxy: asyncio.Queue[Client] = asyncio.Queue()
    for _ in range(CONNECTIONS):
        proxy.put_nowait(Client(port))
    visitors = [visit(proxy, f"/guides/{plan_id}/", found) for _ in range(VISITORS)]
    await asyncio.gather(paint(plan_id, found), *visitors)
    found.seconds = time.perf_counter() - found.begun
    if len(found.seen_after) != VISITORS * len(found.pictures):
        sys.exit(f"{len(found.seen_after)} pictures were seen, not all")
    return found


async def visit(proxy: "asyncio.Queue[Client]", path: str, found: Found) -> None:
    """Open the page and poll like live.js, until the page has nothing more to ask."""
    await asyncio.sleep(random.uniform(0, SOONEST))
    delay = SOONEST
    seen: set[bytes] = set()
    address: bytes | None = path.encode()
    while address:
        body = await ask(proxy, address, found)
        if body:
            note(body, seen, found)
            poll = POLL.search(body)
            address = poll[1].replace(b"&amp;", b"&") if poll else None
        delay = SOONEST if body else min(delay * SLOWER, LATEST)
        await asyncio.sleep(delay * random.uniform(0.9, 1.1))


async def ask(proxy: "asyncio.Queue[Client]", address: bytes, found: Found) -> bytes:
    sent = time.perf_counter()
    client = await proxy.get()
    status, body = await client.ask(request(address.decode(), HX_Request="true"))
    proxy.put_nowait(client)
    found.answers.append(time.perf_counter() - sent)
    if status not in (200, 204, 286):
        sys.exit(f"A visitor was answered with {status}")
    return body


def note(body: bytes, seen: set[bytes], found: Found) -> None:
    now = time.perf_counter()
    for picture in set(PICTURE.findall(body)) - seen:
        seen.add(picture)
        # A picture may be seen before its COMMIT has returned here.
        found.seen_after.append(max(0.0, now - found.pictures.get(picture, now)))


async def paint(plan_id: str, found: Found) -> None:
    names = await asyncio.to_thread(names_of, plan_id)
    for number, name in enumerate(names):
        await asyncio.sleep(EVERY)
        picture = f"/pictures/{number:064x}/1024.webp"
        await asyncio.to_thread(show_picture, plan_id, name, picture)
        found.pictures[picture.encode()] = time.perf_counter()


def names_of(plan_id: str) -> list[str]:
    return list(SpotDetail.objects.filter(guide=plan_id).values_list("spot_name", flat=True))


def show_picture(plan_id: str, name: str, picture: str) -> None:
    """As a worker does: the spot and its job in one transaction."""
    with transaction.atomic():
        jobs = SpotImageJob.objects.filter(plan_id=plan_id, spot_name=name)
        jobs.update(status="succeeded", finished_at=Now())
        spots = SpotDetail.objects.filter(guide=plan_id, spot_name=name)
        spots.update(image_url=picture, image_status="succeeded")
    connections.close_all()


def show(found: Found) -> None:
    def figures(times: list[float], unit: float) -> str:
        return f"p50 {median(times) * unit:.1f}, p99 {quantiles(times, n=100)[98] * unit:.1f}"

    rate = len(found.answers) / found.seconds
    print(f"\n{VISITORS:,} visitors of one guide while {len(found.pictures)} pictures arrive:")
    print(f"  requests per s {rate:.0f}; an answer takes {figures(found.answers, 1000)} ms")
    print(f"  a picture is seen after {figures(found.seen_after, 1)} s; they ask every 2 to 3 s")
