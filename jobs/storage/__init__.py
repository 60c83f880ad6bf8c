"""Where files are kept: in a folder of this machine, or in a bucket (S3, R2 and similar).

A name is computed from the content, or from the call that the file answers. So a name that is
taken is no conflict: the file is stored already, and nothing overwrites it.
"""

from django.core.files.storage import storages

from jobs.storage.bucket import Bucket
from jobs.storage.folder import Folder

__all__ = ["Bucket", "Folder", "named"]


def named(alias: str) -> Folder | Bucket:
    """The storage with this name in the setting STORAGES."""
    found = storages[alias]
    assert isinstance(found, Folder | Bucket), f'STORAGES["{alias}"] is not of jobs.storage'
    return found
