import pytest

from jobs.archive import reading


@pytest.fixture(autouse=True)
def answers(settings, tmp_path):
    """A folder for the answers and archives of this test."""
    settings.STORAGES = settings.STORAGES | {
        "answers": {
            "BACKEND": "jobs.storage.Folder",
            "OPTIONS": {"location": tmp_path / "answers"},
        }
    }
    reading._lines.cache_clear()
    return tmp_path / "answers"
