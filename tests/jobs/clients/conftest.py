import pytest

from jobs.paid.clients.gemini import Gemini
from jobs.paid.clients.openai import OpenAI
from tests.jobs.clients.protocols import Service, import_sdks

KEY = "sk-very-secret-0123456789"


@pytest.fixture(scope="session", autouse=True)
def sdks():
    import_sdks()


@pytest.fixture(scope="session")
def running_service():
    with Service() as service:
        yield service


@pytest.fixture
def service(running_service):
    running_service.start_anew()
    return running_service


@pytest.fixture(scope="session")
def gemini(running_service):
    return Gemini(KEY, running_service.url)


@pytest.fixture(scope="session")
def openai(running_service):
    return OpenAI(KEY, f"{running_service.url}/v1")


@pytest.fixture(params=["gemini", "openai"])
def client(request):
    """Each client in turn, for promises that both make."""
    return request.getfixturevalue(request.param)
