"""A real browser: Debian's chromium, driven by Playwright."""

import os
import shutil
import time

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connections
from django.test import Client
from playwright.sync_api import sync_playwright

PATIENCE = 90_000  # ms; it only keeps a broken test from hanging
CHROMIUM = shutil.which("chromium")
WATCH_FOR_MOVES = """
    window.moved = 0;
    new PerformanceObserver(list => list.getEntries().forEach(entry => window.moved += entry.value))
        .observe({type: "layout-shift", buffered: true});
"""

# Chromium draws its own address bar as two pages more for each visitor: most of a visit's work.
# It obeys only the last list of features, so the others repeat the list that Playwright gives it.
UNUSED = [
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    "AimEnabled",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "ThirdPartyStoragePartitioning",
]
QUIET = [
    f"--disable-features={','.join(UNUSED)}",
    "--no-sandbox",  # CI runs as root
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


needs_chromium = pytest.mark.skipif(not CHROMIUM, reason="there is no chromium here")


@pytest.fixture(scope="session")
def chromium():
    # Playwright runs an event loop in this thread, so Django believes that the code is async, and
    # gives it connections of its own.
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        patch.setitem(os.environ, "DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield browser
        browser.close()
        connections.close_all()


class Visitor:
    """A visitor's browser, and every error it reported.

    It asks for no animations: without a graphics card they cost as much as all else it draws.
    """

    def __init__(self, chromium, site, locale="en", reduced_motion="reduce", **options):
        self.site = site
        self.complaints = []
        self.provoked = ()  # parts of errors that the test brought about
        self.context = chromium.new_context(
            base_url=site, locale=locale, reduced_motion=reduced_motion, **options
        )
        self.context.set_default_timeout(PATIENCE)
        self.page = self.context.new_page()
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", self._watch)

    def _hear(self, message):
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    @property
    def unforgiven(self):
        forgiven = self.provoked
        if any("htmx:timeout" in text for text in self.complaints):
            # On a busy machine an answer may take longer than a page waits; then it asks again.
            forgiven = (*forgiven, "htmx:timeout", "htmx:afterRequest")
        return [text for text in self.complaints if not any(part in text for part in forgiven)]

    def _watch(self, request):
        if not request.url.startswith((self.site, "data:")):
            self.complaints.append(f"left the machine: {request.url}")


def sign_in(page, name="operator"):
    """Log in as a superuser."""
    client = Client()
    client.force_login(User.objects.create_superuser(name))
    cookie = {"name": settings.SESSION_COOKIE_NAME, "value": client.cookies["sessionid"].value}
    page.context.add_cookies([{**cookie, "url": page.url}])


@pytest.fixture
def visitors():
    return []


@pytest.fixture
def forgive(visitors):
    """Forgive only the errors that the test provoked; the browser may report them later."""

    def forgive(page, *provoked):
        [visitor] = [visitor for visitor in visitors if visitor.page is page]
        visitor.provoked += provoked
        give_up = time.monotonic() + PATIENCE / 1000
        while visitor.unforgiven == visitor.complaints:
            assert time.monotonic() < give_up, "not heard of"
            page.wait_for_timeout(20)

    return forgive


@pytest.fixture
def visit(chromium, live_server, visitors):
    """Open a page as a new visitor; at the end no browser may have reported an error."""

    def visit(path, **options):
        visitors.append(Visitor(chromium, live_server.url, **options))
        page = visitors[-1].page
        page.goto(path)
        return page

    yield visit
    for visitor in visitors:
        visitor.context.close()
    assert [visitor.unforgiven for visitor in visitors] == [[] for _ in visitors]


# Timers run twenty times faster, and the page records the waits it asked for.
HURRY = """
    window.waits = [];
    window.asked = 0;
    document.addEventListener("htmx:beforeRequest", () => window.asked += 1);
    const wait = window.setTimeout;
    window.setTimeout = (call, ms, ...more) => {
        if (ms >= 1500) window.waits.push(ms);
        return wait(call, ms >= 1500 ? ms / 20 : ms, ...more);
    };
"""
