"""Where files are kept: a folder of this machine, or a bucket of S3, R2 and their like.

A name is computed from what is stored, or from the call that it answers. So a name that is
taken is no conflict: that file is stored already, and nothing ever overwrites it.
"""

from django.core.files.storage import storages

from jobs.storage.bucket import Bucket
from jobs.storage.folder import Folder

__all__ = ["Bucket", "Folder", "named"]


def named(alias: str) -> Folder | Bucket:
    """The storage that the setting STORAGES has under this name."""
    found = storages[alias]
    assert isinstance(found, Folder | Bucket), f'STORAGES["{alias}"] is not of jobs.storage'
    return found
