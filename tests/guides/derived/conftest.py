import pytest

from jobs.models import Provider
from tests.guides.derived.keeping import ANSWER
from tests.jobs.llm.conftest import quill as quill  # a fixture
from tests.jobs.llm.conftest import raw


@pytest.fixture
def writer(quill):
    """Answers each request with a line, for 0.01 a call."""
    quill.reply = raw(ANSWER)
    quill.is_free = False
    Provider.objects.filter(name="quill").update(price="0.01")
    return quill
