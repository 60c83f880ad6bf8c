"""A worker reports a missing setting before it claims any job."""

import pytest
from django.core.management import CommandError, call_command

from guides import makers
from guides.models import SpotImageJob
from jobs.paid.clients import services

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def made_anew():
    """No client of another test with the same settings, nor one for the tests that follow."""
    made = [makers.made, services._gemini, services._openai]
    for each in made:
        each.cache_clear()
    yield
    for each in made:
        each.cache_clear()


@pytest.mark.parametrize(
    ("provider", "variable"), [("gemini", "GEMINI_API_KEY"), ("openai", "OPENAI_API_KEY")]
)
def test_a_worker_without_its_key_names_the_variable(provider, variable, settings):
    settings.IMAGE_PROVIDER = provider
    setattr(settings, variable, "")

    with pytest.raises(CommandError, match=f"{variable} is not set"):
        call_command("runworker", drain=True)


def test_a_worker_without_the_package_names_the_command(settings, monkeypatch):
    settings.IMAGE_PROVIDER, settings.GEMINI_API_KEY = "gemini", "key"
    monkeypatch.setattr("jobs.paid.clients.setup.find_spec", lambda name: None)

    with pytest.raises(CommandError, match=r"pip install .*requirements-gemini\.txt"):
        call_command("runworker", drain=True)


def test_pages_need_the_name_of_the_provider_and_not_its_key(settings):
    settings.IMAGE_PROVIDER, settings.GEMINI_API_KEY = "gemini", ""
    settings.GEMINI_MODEL = "some-model"

    assert SpotImageJob.provider_name() == "gemini:some-model"


def test_pictures_of_a_local_server_need_no_key_and_are_free(settings):
    settings.IMAGE_PROVIDER, settings.OPENAI_API_KEY = "openai", ""
    settings.OPENAI_BASE_URL = "http://127.0.0.1:11434/v1"

    SpotImageJob.check_setup()

    assert SpotImageJob.provider_is_free()


def test_a_paid_picture_is_not_made_beside_the_queue(spot, settings):
    settings.IMAGE_PROVIDER = "gemini"

    with pytest.raises(CommandError, match="gemini is paid for"):
        call_command("makeimage", "kyoto", "Kinkaku-ji")
