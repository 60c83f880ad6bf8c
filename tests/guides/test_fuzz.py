"""No address, form or guide that a client sends ends in a server error."""

import json
import os
import random
import string

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.test import Client
from django.urls import Resolver404, get_resolver, resolve

from config.wsgi import Request
from guides.models import SpotDetail
from tests.guides.conftest import save_guide
from tests.guides.odd import ODD

pytestmark = pytest.mark.django_db

# Per address: half from a visitor and half from staff. Slow pages of the admin get a fifth.
# `make test-long` sends 1,000; fewer keep the usual run short.
REQUESTS = int(os.environ.get("FUZZ_REQUESTS", "20"))
METHODS = ["GET"] * 12 + ["HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"]
WORDS = [
    *("page", "lang", "card", "spots", "states", "left", "q", "o", "p", "next", "title", "name"),
    *("plan_id", "picture_style", "status", "status__exact", "_changelist_filters", "e"),
    *("csrfmiddlewaretoken", "_facets", "s", "action", "_selected_action", "select_across"),
]
# Of these only UTF-8 can be a form's.
CHARSETS = ["utf-8", "utf8", "utf-16", "latin-1", "rot13", "undefined", "no-such"]
ACTIONS = ["requeue", "cancel", "remove", "mark_seen", "delete_selected", "drain"]
SECURE = ("Content-Security-Policy", "X-Frame-Options", "X-Content-Type-Options")
HEADERS = [
    *("If-None-Match", "If-Match", "If-Modified-Since", "If-Unmodified-Since", "Accept-Language"),
    *("Authorization", "HX-Request", "Host", "Transfer-Encoding", "X-Forwarded-Proto"),
]
FILE = f"/pictures/{'ab' * 32}/{{}}.webp"
SPOT = "/guides/kyoto/spots/{}/image/"
PATHS = [
    *("/", "/guides/new/", "/guides/{}/", "/guides/{}/images/", "/guides/kyoto/images/"),
    *("/weeks/", "/weeks/{}/", "/weeks/2026-W47/", "/feed/", "/admin/guides/weektext/"),
    *("/admin/guides/weektext/{}/change/", "/admin/guides/weektext/{}/ask/again/"),
    *("/cards/", SPOT, FILE, "/favicon.ico", "/api/", "/api/{}"),
    *("/api/openapi.json", "/api/guides/", "/api/guides/{}/status/", "/{}", "/admin/{}"),
    *("/api/events/", "/admin/jobs/event/", "/admin/jobs/event/{}/change/"),
    *("/api/processes/{}/", "/admin/jobs/process/{}/change/", "/admin/jobs/batch/{}/change/"),
    *("/api/guides/kyoto/status/", "/guides/kyoto/", "/admin/login/"),
    *("/admin/guides/guide/", "/admin/guides/spotimagejob/", "/admin/jobs/call/"),
    *("/topics/", "/topics/{}/", "/topics/temple/", "/admin/guides/topicsummary/"),
    *("/admin/search/", "/admin/guides/spotdetail/{}/ask/", "/admin/guides/spotdetail/{}/use/1/"),
]


class Fuzz(random.Random):
    numbers = ("0", "1", "480", "1024", "9" * 30)

    def text(self):
        kind = self.random()
        if kind < 0.6:
            return self.choice(ODD)
        if kind < 0.8:
            return "".join(self.choices(string.printable, k=self.randint(1, 30)))
        return "".join(chr(self.randrange(0x2FFF)) for _ in range(self.randint(1, 10)))

    def header(self):
        return "".join(c for c in self.text()[:200] if " " <= c <= "ÿ")

    def json(self, depth=3):
        kind = self.randrange(7 if depth else 5)
        if kind == 5:
            return [self.json(depth - 1) for _ in range(self.randrange(4))]
        if kind == 6:
            names = ["title", "spots", "name", "plan_id", "tags", "description", self.text()]
            return {name: self.json(depth - 1) for name in names if self.random() < 0.6}
        if self.random() < 0.03:
            return self.nested()
        return [None, True, self.randrange(-(10**20), 10**20), self.random(), self.text()][kind]

    def nested(self):
        value = []
        for _ in range(self.choice([3, 6, 50, 500])):
            value = [value] if self.random() < 0.5 else {"name": value}
        return value

    def number(self):
        """Mostly a number that exists in an address of this site."""
        return self.choice(self.numbers) if self.random() < 0.7 else self.text()

    def guide(self):
        guide = {"plan_id": "kyoto", "title": "Kyoto", "spots": [{"name": "Gate"}]}
        for _ in range(self.randrange(3)):
            guide[self.choice([*guide, "summary", "picture_style", self.text()])] = self.json()
        return guide

    def event(self):
        event = {"source": "shop", "kind": "guide.withdrawn", "payload": {"plan_id": "kyoto"}}
        for _ in range(self.randrange(3)):
            event[self.choice([*event, "dedupe_key", self.text()])] = self.json()
        return event

    def request(self, path):
        method = self.choice(METHODS)
        path = path.format(self.number() if path in (SPOT, FILE) else self.text())
        if self.random() < 0.7:
            query = {self.choice(WORDS): self.text() for _ in range(self.randrange(4))}
        else:
            query = self.text()
        body, content_type = self.body()
        headers = {self.choice(HEADERS): self.header() for _ in range(self.randrange(3))}
        if self.random() < 0.7:
            headers["Authorization"] = "Bearer a secret"
        return method, path, query, body, content_type, headers

    def body(self):
        kind = self.randrange(4)
        if kind == 0:
            sent = self.guide() if self.random() < 0.7 else self.event()
            return json.dumps(sent), "application/json"
        if kind == 1:
            return self.text(), self.choice(["application/json", "text/plain", self.header()])
        if kind == 2:
            return b"\xff\x00" + self.randbytes(20), "application/x-www-form-urlencoded"
        pairs = [f"{self.choice(WORDS)}={self.text()}" for _ in range(4)]
        pairs += [f"action={self.choice(ACTIONS)}", f"_selected_action={self.text()}"]
        kind = "application/x-www-form-urlencoded"
        if self.random() < 0.3:
            kind += f"; charset={self.choice(CHARSETS)}"
        return "&".join(pairs).encode(errors="replace"), kind


@pytest.fixture(params=[None, "staff"])
def somebody(request, monkeypatch):
    monkeypatch.setattr("django.test.client.WSGIRequest", Request)  # as servers make requests
    # A visitor's forms are checked for forgery, as they are in production. Staff's get through.
    client = Client(raise_request_exception=True, enforce_csrf_checks=not request.param)
    client.cookies["csrftoken"] = "a" * 32
    if request.param:
        client.force_login(User.objects.create_superuser("operator"))
    return client


@pytest.mark.search
@pytest.mark.parametrize("path", PATHS)
def test_no_request_is_our_fault(path, somebody, settings, pictures):
    settings.API_TOKEN = "a secret"
    save_guide("Gate", "Pond")
    SpotDetail.objects.filter(spot_name="Pond").update(image_url="https://[x/a.jpg")
    pictures.save(FILE[1:].format("480"), ContentFile(b"RIFF"))
    reached = set()
    fuzz = Fuzz(path)  # the same requests every time
    if path == SPOT:
        fuzz.numbers += tuple(str(spot.pk) for spot in SpotDetail.objects.all())
    is_slow = path in ("/admin/guides/guide/", "/admin/guides/spotimagejob/", "/admin/jobs/call/")
    for _ in range(REQUESTS // 10 if is_slow else REQUESTS // 2):  # for one of two clients
        method, target, query, body, content_type, headers = fuzz.request(path)

        if isinstance(query, dict):
            options = {"query_params": query}
        else:
            options = {"QUERY_STRING": query.encode(errors="replace").decode("latin-1")}
        answer = somebody.generic(method, target, body, content_type, headers=headers, **options)

        assert answer.status_code < 500, (method, target, query, body, headers)
        assert all(name in answer.headers for name in SECURE), (method, target, content_type)
        if answer.streaming:
            list(answer)  # reading to the end closes the file
        reached.add(view_of(target))
    assert view_of(path.format("480")) in reached


def view_of(target):
    try:
        return resolve(target).func
    except Resolver404:
        return None


def test_every_address_is_tried():
    tried = {view_of(path.format("480")) for path in PATHS}

    assert {pattern.callback for pattern in get_resolver("guides.urls").url_patterns} <= tried
