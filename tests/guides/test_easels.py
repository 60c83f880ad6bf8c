"""The painter paints two pictures at a time, however many slots a worker has."""

import threading

from guides.makers import EASELS, Painter, PictureRequest
from tests.jobs.processes import wait_until


def asked(name):
    words = {"prompt": "", "description": "", "tags": (), "place": "Kyoto"}
    return PictureRequest(provider="painter", model="", name=name, **words)


def test_two_pictures_are_painted_at_a_time(monkeypatch):
    begun, goes_on = [], threading.Event()

    def paint(*words):
        begun.append(words)
        goes_on.wait(60)
        return b""

    monkeypatch.setattr("guides.painter.paint", paint)
    monkeypatch.setattr("django.conf.settings.PAINTER_SECONDS", 0)
    asked_for = [[asked(f"Gate {n}"), 60] for n in range(6)]
    threads = [threading.Thread(target=Painter().draw, args=words) for words in asked_for]
    for thread in threads:
        thread.start()
    wait_until(lambda: len(begun) == 2)
    wait_until(lambda: len(EASELS._cond._waiters) == 4)
    at_once = len(begun)
    goes_on.set()
    for thread in threads:
        thread.join(60)

    assert (at_once, len(begun)) == (2, 6)
