"""Files as objects of a bucket (S3, R2 and similar)."""

import errno
import os
import threading
import time
from collections.abc import Container, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.files.storage import Storage

from jobs.errors import ProviderUnavailable, StorageRefused, StorageUnavailable
from jobs.storage.names import checked

CONTENT_TYPES = {".webp": "image/webp"}
OTHER_CONTENT = "application/octet-stream"

CONNECT_SECONDS = 5
READ_SECONDS = 20
MOST_THREADS = 64
PAUSES_IN_A_CONFLICT = (0.2, 0.5, 1.0)

NO_CONTENT = 204
TAKEN = 412  # the condition of a put was not met
CONFLICT = 409  # another client is putting the same name right now
UNKNOWN_HEADER = 501
MISSING = 404
BEYOND_END = 416  # the object has no byte in the range asked for
TRANSIENT = {408, 425, 429, "SlowDown", "RequestTimeout"}  # besides 500 and above


class Bucket(Storage):
    """Objects of a bucket, over the protocol of S3."""

    def __init__(
        self,
        bucket: str,
        endpoint_url: str = "",
        region: str = "us-east-1",
        public_url: str = "",
        cache_control: str = "",
        read_seconds: float = READ_SECONDS,
        prefix: str = "",
    ) -> None:
        """All keys begin with `prefix`, and all URLs with `public_url`, which stands for it.

        `public_url` is "/" if a page of this site signs addresses.
        """
        self.bucket = bucket
        self.prefix = prefix
        self.account = (endpoint_url, region, read_seconds)
        self.base_url = public_url.rstrip("/") + "/" if public_url else None
        self.headers = {"CacheControl": cache_control} if cache_control else {}

    def put(self, name: str, content: bytes) -> None:
        """Store it, unless the name is taken. After an error it may be stored: call put again."""
        for pause in PAUSES_IN_A_CONFLICT:
            status = self._put(name, content, {TAKEN, CONFLICT, UNKNOWN_HEADER}, IfNoneMatch="*")
            if status == UNKNOWN_HEADER:
                if not self.exists(name):
                    self._put(name, content)
                return
            if status != CONFLICT:
                return
            time.sleep(pause)
        raise StorageUnavailable(
            reason=f"{self._place(name)}: other clients keep storing the same name."
        )

    def read(self, name: str) -> bytes:
        """The whole object; FileNotFoundError if there is none."""
        content: bytes = self._get(name)["Body"]
        return content

    def read_range(self, name: str, offset: int, length: int) -> bytes:
        """A part of the object, shorter at its end; FileNotFoundError if there is no object."""
        last = offset + length - 1
        answer = self._get(name, BEYOND_END, Range=f"bytes={offset}-{last}")
        content: bytes = answer.get("Body", b"")
        # A service that does not know ranges answers with the whole object.
        return content if "ContentRange" in answer else content[offset : last + 1]

    def remove(self, name: str) -> None:
        """Delete the object, if there is one."""
        self._ask("delete_object", name, {MISSING})

    def _get(self, name: str, *fine: int, **options: str) -> dict[str, Any]:
        answer = self._ask("get_object", name, {MISSING, *fine}, **options)
        if status_of(answer) == MISSING:
            raise FileNotFoundError(errno.ENOENT, f"not in the bucket {self.bucket}", name)
        return answer

    def exists(self, name: str) -> bool:
        return status_of(self._ask("head_object", name, {MISSING})) != MISSING

    def url(self, name: str | None) -> str:
        """The URL that never expires."""
        if self.base_url is None or name is None:
            raise ValueError(f"The files of the bucket {self.bucket} have no public address.")
        return self.base_url + checked(name)

    def signed_url(self, name: str, seconds: int) -> str:
        """A URL that opens the file without login for this time. Made without a request."""
        place = self._object(name)
        with self._explained(name):
            client = client_for(*self.account)
            url: str = client.generate_presigned_url("get_object", Params=place, ExpiresIn=seconds)
        return url

    def _put(self, name: str, content: bytes, fine: Container[int] = (), **more: str) -> int:
        content_type = CONTENT_TYPES.get(Path(name).suffix, OTHER_CONTENT)
        options = {"ContentType": content_type, **self.headers, **more}
        return status_of(self._ask("put_object", name, fine, Body=content, **options))

    def _ask(
        self, operation: str, name: str, fine: Container[int], **options: Any
    ) -> dict[str, Any]:
        """Send one request. A refusal with a status in `fine` is returned, any other raises."""
        from botocore.exceptions import ClientError

        place = self._object(name)
        with self._explained(name):
            ask = getattr(client_for(*self.account), operation)
            try:
                answer: dict[str, Any] = ask(**place, **options)
            except ClientError as error:
                if status_of(error.response) in fine and code_of(error.response) != "NoSuchBucket":
                    return dict(error.response)
                raise
            if "Body" in answer:
                answer["Body"] = answer["Body"].read()
        if operation == "delete_object" and status_of(answer) == NO_CONTENT:
            return answer  # it names nothing that could be checked
        if "ETag" not in answer:  # an ordinary web site may answer 200 without storing anything
            reason = f"{self._place(name)}: S3_ENDPOINT_URL does not answer like a storage."
            raise StorageRefused(reason=reason)
        return answer

    @contextmanager
    def _explained(self, name: str) -> Iterator[None]:
        """Turn boto's errors into ours. Only their class is named: their text may hold secrets."""
        from botocore.exceptions import (
            BotoCoreError,
            ClientError,
            ConnectionError,
            HTTPClientError,
            IncompleteReadError,
        )

        try:
            yield
        except ClientError as error:
            raise explain(self._place(name), error.response) from error
        except (ConnectionError, HTTPClientError, IncompleteReadError) as error:
            why = f"{self._place(name)}: {type(error).__name__}."
            reason = f"{why} Look whether the storage can be reached from here."
            raise StorageUnavailable(reason=reason) from error
        except (BotoCoreError, ValueError) as error:  # boto raises these before it sends anything
            why = f"{self._place(name)}: {type(error).__name__}."
            reason = f"{why} Check the settings S3_ and AWS_ (docs/storage.md)."
            raise StorageRefused(reason=reason) from error

    def _object(self, name: str) -> dict[str, str]:
        return {"Bucket": self.bucket, "Key": self.prefix + checked(name)}

    def _place(self, name: str) -> str:
        return f"The bucket {self.bucket}, file {self.prefix}{name}"


def status_of(answer: Any) -> int:
    return int(answer["ResponseMetadata"]["HTTPStatusCode"])


def code_of(answer: Any) -> str:
    return str(answer.get("Error", {}).get("Code", ""))[:60]


def explain(place: str, answer: Any) -> ProviderUnavailable:
    """StorageUnavailable if the storage is only busy; StorageRefused if its setup is wrong."""
    status, code = status_of(answer), code_of(answer)
    why = f"{place}: the storage says {status} {code}."
    if {status, code} & TRANSIENT or (status >= 500 and status != UNKNOWN_HEADER):
        return StorageUnavailable(reason=why)
    if code == "NoSuchBucket":
        return StorageRefused(reason=f"{why} Create it, or correct S3_BUCKET, S3_PRIVATE_BUCKET.")
    if status in {401, 403}:
        must = "Check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and what they are allowed to do."
        return StorageRefused(reason=f"{why} {must}")
    return StorageRefused(reason=f"{why} Check S3_ENDPOINT_URL and AWS_REGION.")


# One client per account and process: creating one is slow, and threads can share it.

clients: dict[tuple[object, ...], Any] = {}
making = threading.Lock()


def client_for(endpoint_url: str, region: str, read_seconds: float) -> Any:
    # Per process: a fork must not use its parent's connections.
    key = (os.getpid(), endpoint_url, region, read_seconds)
    with making:
        if key not in clients:
            clients[key] = new_client(endpoint_url, region, read_seconds)
        return clients[key]


def renew_lock() -> None:
    """Replace the lock in a fork: a thread of the parent that held it does not exist there."""
    global making
    making = threading.Lock()


os.register_at_fork(after_in_child=renew_lock)


def new_client(endpoint_url: str, region: str, read_seconds: float) -> Any:
    """boto finds the credentials: in the environment, a profile or the machine's role."""
    import boto3  # takes half a second, and most processes don't need it
    from botocore.config import Config

    config = Config(
        signature_version="s3v4",
        # "virtual" puts the region into signed URLs too; other services know only "path".
        s3={"addressing_style": "path" if endpoint_url else "virtual"},
        # R2 refuses the checksums that boto adds by itself.
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
        connect_timeout=CONNECT_SECONDS,
        read_timeout=read_seconds,
        # One retry, for a connection dropped while idle: that should not pause a provider.
        # All other retries are left to the queue.
        retries={"mode": "standard", "total_max_attempts": 2},
        max_pool_connections=MOST_THREADS,
    )
    # A session of our own: the shared one is not thread-safe.
    session = boto3.session.Session(region_name=region)
    return session.client("s3", endpoint_url=endpoint_url or None, config=config)
