"""The painter paints two pictures at a time, however many slots a worker has."""

import threading
import time

from guides.makers import Painter, PictureRequest

SLOTS = 6


def asked(name):
    words = {"prompt": "", "description": "", "tags": (), "place": "Kyoto"}
    return PictureRequest(provider="painter", model="", name=name, **words)


def test_two_pictures_are_painted_at_a_time(monkeypatch):
    running, most = [], []

    def paint(*words):
        running.append(words)
        most.append(len(running))
        time.sleep(0.02)
        running.remove(words)
        return b""

    monkeypatch.setattr("guides.painter.paint", paint)
    threads = [
        threading.Thread(target=Painter().draw, args=[asked(f"Gate {n}"), 60]) for n in range(SLOTS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    assert max(most) == 2
    assert len(most) == SLOTS
