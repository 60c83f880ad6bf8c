"""Asking /internal/run-jobs/, in this process."""

import pytest
from django.test import Client

SECRET = "a secret of at least thirty-two characters"


@pytest.fixture
def opened(settings):
    settings.INTERNAL_SECRET = SECRET
    settings.SITE_URL = "http://127.0.0.1:9"  # where nobody answers


def ask(query="", secret=SECRET, method="post", **headers):
    sent = {"X-Internal-Secret": secret, **headers}
    return getattr(Client(), method)(f"/internal/run-jobs/{query}", headers=sent)


def code(answer):
    return answer.json()["error"]["code"]
