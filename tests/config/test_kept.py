"""Responses kept in memory: how many, for whom, and made by whom."""

import threading

import pytest
from django.db import OperationalError
from django.http import HttpResponse, StreamingHttpResponse
from django.test import RequestFactory

from config import kept
from config.kept import OVERHEAD, Kept, Memory
from tests.jobs.processes import wait_until

MB = 1_000_000


@pytest.fixture(autouse=True)
def keeps(settings, page_clock):
    settings.PAGE_MEMORY_MB = 1
    settings.ALLOWED_HOSTS = ["testserver", "localhost"]


@pytest.fixture
def page():
    """A view that counts how often it was rendered, and the revision of what it shows."""

    class Page:
        revision = "1"
        rendered = 0

        def view(self, request, **_):
            self.rendered += 1
            return self.respond(request)

        def respond(self, _request):
            return HttpResponse(f"Page {self.rendered}")

        def get(self, path="/", query=("lang",), headers=("HX-Request",), **extra):
            keep = kept.kept(lambda _: self.revision, query=query, headers=headers)
            return keep(self.view)(RequestFactory().get(path, **extra))

    return Page()


def response(size=10, revision="1", seconds=60):
    return Kept(revision, seconds, 200, {}, b"x" * (size - OVERHEAD))


def test_a_page_is_rendered_once_per_revision(page):
    first, again = page.get(), page.get()
    page.revision = "2"
    other = page.get()

    assert (first.text, again.text, other.text) == ("Page 1", "Page 1", "Page 2")


def test_what_the_middleware_adds_to_one_response_is_not_in_the_next(page):
    page.get()
    page.get().headers["X-Trace-Id"] = "of one visitor"

    assert "X-Trace-Id" not in page.get().headers


def test_a_kept_response_has_its_status_and_headers(page):
    page.respond = lambda _: HttpResponse(status=286, headers={"HX-Refresh": "true"})
    first, again = page.get(), page.get()

    assert page.rendered == 1
    assert (again.status_code, dict(again.headers)) == (286, dict(first.headers))


@pytest.mark.parametrize(
    "asked",
    [
        {"path": "/other/"},
        {"path": "/?lang=ja"},
        {"HTTP_HOST": "localhost"},
        {"SERVER_PORT": "8000"},
        {"headers": ("HX-Request",), "HTTP_HX_REQUEST": "true"},
        {"secure": True},
    ],
    ids=["path", "parameter", "host", "port", "header", "scheme"],
)
def test_another_request_gets_another_response(page, asked):
    page.get()

    assert page.get(**asked).text == "Page 2"


def test_a_parameter_that_no_view_reads_makes_no_other_page(page):
    page.get()

    assert page.get("/?utm_source=mail").text == "Page 1"


@pytest.mark.parametrize(
    "asked",
    [
        {"HTTP_COOKIE": "sessionid=1"},
        {"HTTP_COOKIE": "theme=dark"},
        {"HTTP_AUTHORIZATION": "Bearer secret"},
        {"REQUEST_METHOD": "HEAD"},
    ],
    ids=["session", "cookie", "token", "head"],
)
def test_whoever_may_be_known_gets_a_page_of_their_own(page, asked):
    page.get()
    known = page.get(**asked)
    stranger = page.get()

    assert (known.text, stranger.text) == ("Page 2", "Page 1")


def test_a_response_that_sets_a_cookie_is_not_kept(page):
    def respond(_):
        given = HttpResponse()
        given.set_cookie("sessionid", "1")
        return given

    page.respond = respond
    page.get()
    page.get()

    assert page.rendered == 2


@pytest.mark.parametrize("status", [302, 404, 410, 500, 503])
def test_an_error_is_not_kept(page, status):
    page.respond = lambda _: HttpResponse(status=status)
    page.get()
    page.get()

    assert page.rendered == 2


def test_a_stream_is_not_kept(page):
    page.respond = lambda _: StreamingHttpResponse([b"a"])
    page.get()
    page.get()

    assert page.rendered == 2


def test_without_memory_nothing_is_kept(page, settings):
    settings.PAGE_MEMORY_MB = 0
    page.get()

    assert page.get().text == "Page 2"


def test_without_a_revision_nothing_is_kept(page):
    page.revision = ""
    page.get()

    assert page.get().text == "Page 2"


def test_what_changed_while_it_was_rendered_is_not_kept(page):
    def respond(_):
        page.revision = "2"
        return HttpResponse("a row that is deleted next")

    page.respond = respond
    page.get()
    page.revision = "1"
    page.respond = lambda _: HttpResponse("without it")

    assert page.get().text == "without it"


def test_a_page_in_hand_is_given_though_the_database_is_gone(page):
    def lost(_):
        raise OperationalError("the connection is lost")

    def respond(_):
        type(page).revision = property(lost)
        return HttpResponse("rendered")

    page.respond = respond

    assert page.get().text == "rendered"


@pytest.mark.parametrize(
    ("control", "seconds"), [("no-cache", 1), ("public, max-age=60", 60), ("", 1)]
)
def test_a_page_lasts_as_long_as_a_browser_may_keep_it(page, page_clock, control, seconds):
    page.respond = lambda _: HttpResponse(headers={"Cache-Control": control})
    page.get()
    page_clock.now = seconds - 0.1
    page.get()
    kept_so_far = page.rendered
    page_clock.now = seconds + 0.1
    page.get()

    assert (kept_so_far, page.rendered) == (1, 2)


# Memory


def test_the_least_recently_used_page_makes_room():
    memory = Memory()
    keys = [bytes([n]) for n in range(21)]
    for key in keys[:20]:
        memory.keep(key, response(MB // 20))
    memory.find(keys[0], "1")

    memory.keep(keys[20], response(MB // 20))

    assert [memory.find(key, "1") is not None for key in keys[:3]] == [True, False, True]
    assert memory.size == MB


def test_a_new_revision_takes_the_place_of_the_old_one():
    memory = Memory()
    memory.keep(b"a", response(5_000))

    memory.keep(b"a", response(6_000, revision="2"))

    assert (len(memory.responses), memory.size) == (1, 6_000)


def test_one_huge_page_does_not_push_all_others_out():
    memory = Memory()
    memory.keep(b"a", response(5_000))

    memory.keep(b"b", response(MB // 10))

    assert memory.find(b"a", "1")
    assert memory.find(b"b", "1") is None


# Many at once


def ask_at_once(page, count):
    threads = [threading.Thread(target=page.get) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)


@pytest.mark.parametrize(("late", "text"), [(0.4, "Page 1"), (0.6, "Page 2")])
def test_while_a_page_is_rendered_anew_the_old_one_is_good_a_little_longer(
    page, page_clock, late, text
):
    got = []

    def respond(_):
        if page.rendered == 2:
            page_clock.now = 1 + late
            page.respond = lambda _: HttpResponse("Page 2")
            ask = threading.Thread(target=lambda: got.append(page.get().text))
            ask.start()
            ask.join(60)
        return HttpResponse(f"Page {page.rendered}")

    page.respond = respond
    page.get()
    page_clock.now = 1.1
    page.get()

    assert got == [text]


def test_a_page_whose_rows_changed_is_not_given_while_it_is_rendered_anew(page):
    got = []

    def respond(_):
        page.respond = lambda _: HttpResponse("new")
        ask = threading.Thread(target=lambda: got.append(page.get().text))
        ask.start()
        ask.join(60)
        return HttpResponse("also new")

    page.get()
    page.revision, page.respond = "2", respond
    page.get()

    assert got == ["new"]


def test_a_crowd_that_comes_at_once_is_rendered_for_once(page, monkeypatch):
    monkeypatch.setattr("config.kept.PATIENCE", 60)
    find, asked = kept.Memory.find, []

    def count(*arguments):
        asked.append(arguments)
        return find(*arguments)

    def respond(_):
        wait_until(lambda: len(asked) >= 9)  # all asked, and this thread once more in its turn
        return HttpResponse()

    monkeypatch.setattr(kept.Memory, "find", count)
    page.respond = respond
    ask_at_once(page, 8)

    assert page.rendered == 1


def test_nobody_waits_long_for_a_page_that_hangs(page, monkeypatch):
    monkeypatch.setattr("config.kept.PATIENCE", 0.05)
    goes_on = threading.Event()

    def hang(_):
        if page.rendered == 1:
            goes_on.wait(60)
            return HttpResponse("slow")
        return HttpResponse("quick")

    page.respond = hang
    slow = threading.Thread(target=page.get)
    slow.start()
    wait_until(lambda: page.rendered)

    answer = page.get()
    is_slow_still = slow.is_alive()
    goes_on.set()
    slow.join(60)

    assert (answer.text, is_slow_still) == ("quick", True)


def test_a_page_that_fails_leaves_the_turn_to_the_next(page):
    def fail(_):
        raise ValueError("a broken template")

    page.respond = fail
    with pytest.raises(ValueError, match="a broken template"):
        page.get()
    page.respond = lambda _: HttpResponse("whole")

    assert page.get().text == "whole"
    assert not any(turn.locked() for turn in kept.memory.turns)
