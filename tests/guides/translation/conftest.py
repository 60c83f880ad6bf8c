import pytest

from jobs.llm import writers
from jobs.models import Provider
from tests.guides.translation.translating import Translator


@pytest.fixture
def translator(settings, monkeypatch, pictures, transactional_db):
    """The chosen writer: it remembers what it was asked, and answers as the test says."""
    monkeypatch.setattr(writers, "WRITERS", dict(writers.WRITERS))
    translator = Translator()
    writers.register("translator", translator)
    settings.LLM_PROVIDER = "translator"
    Provider.objects.create(name="translator", requests_per_minute=None)
    return translator
