"""Pictures as files of the site."""

import pytest
from django.core.files.base import ContentFile

from tests.guides.pages import (
    HASH,
)

pytestmark = pytest.mark.django_db


def test_a_picture_may_be_kept_for_ever(client, pictures):
    pictures.save(f"pictures/{HASH}/480.webp", ContentFile(b"RIFF"))

    response = client.get(f"/pictures/{HASH}/480.webp")

    assert b"".join(response.streaming_content) == b"RIFF"
    assert response.headers["Content-Type"] == "image/webp"
    assert response.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert response.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "name", [f"{HASH}/480.webp", f"{HASH}/../480.webp", f"{HASH}/480.png", "x"]
)
def test_a_picture_that_is_not_there_is_not_found(client, pictures, name):
    assert client.get(f"/pictures/{name}").status_code == 404
