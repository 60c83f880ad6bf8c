"""Where pictures and answers are kept: for the setting STORAGES (docs/storage.md).

A database with a name has its own folders below the usual ones, or its own keys in the bucket.
So no database finds, or deletes, an answer of another.
"""

from pathlib import Path
from typing import Any, NamedTuple


class Places(NamedTuple):
    """Two folders, or two buckets."""

    pictures: str
    answers: str


def choose(
    database: str, folders: Places, buckets: Places, service: dict[str, str], public_url: str
) -> dict[str, Any]:
    """In the buckets of this service, if there are any; else in the folders."""
    if buckets.pictures:
        return in_buckets(database, buckets, service, public_url)
    # Without a name this is the folder itself.
    pictures, answers = (str(Path(folder, database)) for folder in folders)
    return {
        "pictures": stored("Folder", location=pictures, base_url="/"),
        "answers": stored("Folder", location=answers, file_permissions_mode=0o600),
    }


def in_buckets(
    database: str, buckets: Places, service: dict[str, str], public_url: str
) -> dict[str, Any]:
    prefix = f"{database}/" if database else ""
    return {
        "pictures": stored(
            "Bucket",
            bucket=buckets.pictures,
            prefix=prefix,
            # Without a public address the page /pictures/… signs one for each request.
            public_url=f"{public_url.rstrip('/')}/{prefix}" if public_url else "/",
            cache_control="public, max-age=31536000, immutable",
            **service,
        ),
        "answers": stored(
            "Bucket",
            bucket=buckets.answers,
            prefix=prefix,
            cache_control="private, no-store",
            **service,
        ),
    }


def stored(kind: str, **options: Any) -> dict[str, Any]:
    return {"BACKEND": f"jobs.storage.{kind}", "OPTIONS": options}
