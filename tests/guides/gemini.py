"""Gemini's protocol on this machine, for worker processes that make pictures."""

import pytest

from guides.models import SpotDetail
from jobs.models import Provider
from tests.jobs.clients.protocols import Service

PICTURES = "--jobs=guides.SpotImageJob"
NAME = "gemini:gemini-test"
KEY = "AIza-recognisable"


@pytest.fixture
def service(transactional_db, tmp_path, monkeypatch, settings):
    """Gemini's protocol on this machine; worker processes are told to use it."""
    with Service() as service:
        told = {
            "IMAGE_PROVIDER": "gemini",
            "GEMINI_API_KEY": KEY,
            "GEMINI_MODEL": "gemini-test",
            "GEMINI_BASE_URL": service.url,
            "PICTURES_FOLDER": str(tmp_path / "pictures"),
            "ANSWERS_FOLDER": str(tmp_path / "answers"),
        }
        for name, value in told.items():
            monkeypatch.setenv(name, value)
        settings.IMAGE_PROVIDER, settings.GEMINI_MODEL = "gemini", "gemini-test"
        Provider.objects.create(name=NAME, requests_per_minute=None, price="0.04")
        yield service


def all_ready():
    return not SpotDetail.objects.exclude(image_status="succeeded").exists()
