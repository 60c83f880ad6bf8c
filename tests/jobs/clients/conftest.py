from datetime import UTC, datetime

import pytest

from jobs.paid.clients.gemini import Gemini
from jobs.paid.clients.gemini_batches import GeminiBatches
from jobs.paid.clients.openai import OpenAI
from jobs.paid.clients.openai_batches import OpenAIBatches
from tests.jobs.clients.protocols import Service, import_sdks
from tests.jobs.vendors.gemini import GeminiVendor
from tests.jobs.vendors.lines import jsonl
from tests.jobs.vendors.openai import OpenAIVendor

MODEL = "model-7"
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


# For what one vendor alone does.
only_gemini = pytest.mark.parametrize("running_shop", ["gemini"], indirect=True)
only_openai = pytest.mark.parametrize("running_shop", ["openai"], indirect=True)


@pytest.fixture(scope="session", params=["gemini", "openai"])
def running_shop(request):
    """Each vendor in turn with its client for batches."""
    with (GeminiVendor if request.param == "gemini" else OpenAIVendor)() as vendor:
        if request.param == "gemini":
            yield vendor, GeminiBatches(Gemini(KEY, vendor.base_url))
        else:
            yield vendor, OpenAIBatches(OpenAI(KEY, vendor.base_url))


@pytest.fixture
def vendor(running_shop):
    running_shop[0].start_anew()
    return running_shop[0]


@pytest.fixture
def batches(running_shop):
    return running_shop[1]


@pytest.fixture
def is_gemini(vendor):
    return isinstance(vendor, GeminiVendor)


@pytest.fixture
def made(vendor, batches, tmp_path):
    """Makes a batch of one line per prompt; returns what the service said."""

    def made(*prompts, form="text", token="token-1"):
        file = written_to(tmp_path / "lines.jsonl", batches, prompts, form)
        name = batches.upload(file, token, 20)
        return batches.create(MODEL, form, name, token, 20)

    return made


def written_to(file, batches, prompts, form):
    asked = [
        batches.line(MODEL, f"key-{number}", {"form": form, "prompt": prompt})
        for number, prompt in enumerate(prompts, 1)
    ]
    file.write_bytes(jsonl(asked))
    return file


@pytest.fixture
def fetched(batches, tmp_path):
    """The results of an ended batch, by their keys."""

    def fetched(remote, form="text"):
        results = []
        for number, name in enumerate(remote.files):
            file = tmp_path / f"results-{number}.jsonl"
            batches.download(name, file, 20)
            results += batches.results(MODEL, form, file)
        return {result.key: result for result in results}

    return fetched


LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


def take(step, batches, remote, folder):
    steps = {
        "upload": lambda: batches.upload(folder / "lines.jsonl", "token-1", 20),
        "create": lambda: batches.create(MODEL, "text", "files/1", "token-1", 20),
        "list": lambda: batches.find("token-1", LONG_AGO, 20),
        "look": lambda: batches.look(remote.id, 20),
        "cancel": lambda: batches.cancel(remote.id, 20),
        "download": lambda: batches.download("files/1", folder / "results", 20),
    }
    return steps[step]()
