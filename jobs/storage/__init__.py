"""Where files are kept: in a folder of this machine, or in a bucket (S3, R2 and similar).

A name is computed from the content, or from the call that the file answers. So a name that is
taken is no conflict: the file is stored already, and nothing overwrites it.
"""

from functools import cache
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured
from django.core.files.storage import storages

from jobs import settings
from jobs.storage.bucket import Bucket
from jobs.storage.folder import Folder

__all__ = ["Bucket", "Folder", "named"]

ANSWERS = "answers"  # the raw answers of paid services, and archives: private


def named(alias: str) -> Folder | Bucket:
    """The storage with this name in the setting STORAGES; answers have a folder without it."""
    if alias == ANSWERS and alias not in settings.STORAGES:
        return _answers_folder(getattr(settings, "BASE_DIR", None))
    found = storages[alias]
    assert isinstance(found, Folder | Bucket), f'STORAGES["{alias}"] is not of jobs.storage'
    return found


@cache
def _answers_folder(base: Path | str | None) -> Folder:
    """Beside manage.py, as `startproject` sets BASE_DIR: not where a process happens to start."""
    if base is None:
        raise ImproperlyConfigured(
            'STORAGES has no "answers", where paid answers and archives are kept. Add, for example,'
            ' "answers": {"BACKEND": "jobs.storage.Folder", "OPTIONS": {"location": "/srv/paid"}}'
        )
    return Folder(location=Path(base) / ANSWERS, file_permissions_mode=0o600)
