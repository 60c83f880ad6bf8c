"""Sends HTTP requests to this machine as fast as it answers, and measures each answer."""

import asyncio
import time
from dataclasses import dataclass, field
from statistics import median, quantiles

CONNECTIONS = 16


@dataclass
class Load:
    """The requests of a few seconds: how long each took, and their statuses."""

    seconds: float = 0.0
    times: list[float] = field(default_factory=list)
    statuses: set[int] = field(default_factory=set)
    bytes: int = 0  # of the last answer's body

    @property
    def rate(self) -> float:
        return len(self.times) / self.seconds

    @property
    def p50(self) -> float:
        return median(self.times) * 1000

    @property
    def p99(self) -> float:
        return quantiles(self.times, n=100)[98] * 1000


def request(path: str, **headers: str) -> bytes:
    lines = [f"GET {path} HTTP/1.1", "Host: localhost"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def post(path: str, body: bytes, **headers: str) -> bytes:
    head = request(path, Content_Length=str(len(body)), **headers)
    return head.replace(b"GET", b"POST", 1) + body


def measure(port: int, requests: list[bytes], seconds: float) -> Load:
    """Send the requests in turn over a few connections that stay open.

    Each connection repeats its own share; if there are too few, it sends all of them.
    """
    return asyncio.run(_measure(port, requests, seconds))


async def _measure(port: int, requests: list[bytes], seconds: float) -> Load:
    load = Load()
    begun = time.perf_counter()
    end = begun + seconds
    await asyncio.gather(
        *(
            _repeat(port, requests[n::CONNECTIONS] or requests, end, load)
            for n in range(CONNECTIONS)
        )
    )
    load.seconds = time.perf_counter() - begun
    return load


async def _repeat(port: int, requests: list[bytes], end: float, load: Load) -> None:
    client = Client(port)
    turn = 0
    while time.perf_counter() < end:
        sent = time.perf_counter()
        status, body = await client.ask(requests[turn % len(requests)])
        load.times.append(time.perf_counter() - sent)
        load.statuses.add(status)
        load.bytes = len(body)
        turn += 1
    client.close()


class Client:
    """One connection, opened again when the server said that it closes it."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.writer: asyncio.StreamWriter | None = None

    async def ask(self, request: bytes) -> tuple[int, bytes]:
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        self.writer.write(request)
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = head.partition("\r\ncontent-length: ")[2].partition("\r\n")[0]
        body = await self.reader.readexactly(int(length or 0))
        if "\r\nconnection: close" in head:
            self.close()
        return int(head.split(" ", 2)[1]), body

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()
        self.writer = None
