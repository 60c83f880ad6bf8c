"""Where files are kept: a folder of this machine, or a bucket of S3, R2 and their like.

A name is computed from what is stored, or from the call that it answers. So a name that is
taken is no conflict: that file is stored already, and nothing ever overwrites it.
"""

import errno
import os
import re
import tempfile
import threading
import time
from collections.abc import Container, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.exceptions import SuspiciousFileOperation
from django.core.files.storage import FileSystemStorage, Storage, storages

from jobs.errors import ProviderUnavailable, StorageRefused, StorageUnavailable

# No part begins with a dot: neither "..", nor a file that is still being written.
NAME = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)*", re.ASCII)
CONTENT_TYPES = {".webp": "image/webp"}
OTHER_CONTENT = "application/octet-stream"
NOT_PERMITTED = {errno.EACCES, errno.EPERM, errno.EROFS}

CONNECT_SECONDS = 5
READ_SECONDS = 20
MOST_THREADS = 64
PAUSES_IN_A_CONFLICT = (0.2, 0.5, 1.0)

TAKEN = 412  # the condition of a put was not met
CONFLICT = 409  # somebody is putting the same name at this moment
UNKNOWN_HEADER = 501
MISSING = 404
TRANSIENT = {408, 425, 429, "SlowDown", "RequestTimeout"}  # besides 500 and above


def named(alias: str) -> "Folder | Bucket":
    """The storage that the setting STORAGES has under this name."""
    found = storages[alias]
    assert isinstance(found, Folder | Bucket), f'STORAGES["{alias}"] is not of jobs.storage'
    return found


def checked(name: str) -> str:
    if not NAME.fullmatch(name):
        raise SuspiciousFileOperation(f"{name!r} can't be the name of a file.")
    return name


class Folder(FileSystemStorage):
    """Files of this machine. What has a name is complete, whoever was killed while writing it."""

    def put(self, name: str, content: bytes) -> None:
        """Store it, unless the name is taken. On return it survives a power cut."""
        path = Path(self.path(checked(name)))
        try:
            if not path.exists():
                self._write(path, content)
            self._sync(path.parent)
        except OSError as error:
            raise self._explain(f"{name} could not be stored", error) from error

    def read(self, name: str) -> bytes:
        """All of a file; FileNotFoundError if there is none."""
        path = Path(self.path(checked(name)))
        try:
            return path.read_bytes()
        except FileNotFoundError:
            raise
        except OSError as error:
            raise self._explain(f"{name} could not be read", error) from error

    def _write(self, path: Path, content: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Beside its goal, to be on the same file system.
        descriptor, part = tempfile.mkstemp(".part", ".", path.parent)
        try:
            with open(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            if self.file_permissions_mode is not None:
                os.chmod(part, self.file_permissions_mode)
            give_name(part, path)
        finally:
            Path(part).unlink(missing_ok=True)

    def _sync(self, folder: Path) -> None:
        """Make new names durable, those of new folders too."""
        root = Path(self.location)
        for changed in (folder, *folder.parents):
            descriptor = os.open(changed, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            if changed == root:
                break

    def _explain(self, what: str, error: OSError) -> ProviderUnavailable:
        why = f"{what} in the folder {self.location}: {error.strerror or error}."
        if error.errno in NOT_PERMITTED:
            return StorageRefused(reason=f"{why} Allow this account to read and write there.")
        return StorageUnavailable(reason=f"{why} Look whether the disk is full or gone.")


def give_name(part: str, path: Path) -> None:
    """Let a complete file appear, unless somebody was quicker."""
    try:
        os.link(part, path)
    except FileExistsError:
        pass
    except OSError:  # a file system without links
        os.replace(part, path)  # if somebody was quicker, the same by the same


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
    ) -> None:
        """Addresses begin with `public_url`: "/" where a page of this site signs them."""
        self.bucket = bucket
        self.account = (endpoint_url, region, read_seconds)
        self.base_url = public_url.rstrip("/") + "/" if public_url else None
        self.headers = {"CacheControl": cache_control} if cache_control else {}

    def put(self, name: str, content: bytes) -> None:
        """Store it, unless the name is taken. After an error it may be stored: put it again."""
        for pause in PAUSES_IN_A_CONFLICT:
            status = self._put(name, content, {TAKEN, CONFLICT, UNKNOWN_HEADER}, IfNoneMatch="*")
            if status == UNKNOWN_HEADER:
                if not self.exists(name):
                    self._put(name, content)
                return
            if status != CONFLICT:
                return
            time.sleep(pause)
        raise StorageUnavailable(reason=f"{self._place(name)}: others are storing it all the time.")

    def read(self, name: str) -> bytes:
        """All of an object; FileNotFoundError if there is none."""
        answer = self._ask("get_object", name, {MISSING})
        if status_of(answer) == MISSING:
            raise FileNotFoundError(errno.ENOENT, f"not in the bucket {self.bucket}", name)
        content: bytes = answer["Body"]
        return content

    def exists(self, name: str) -> bool:
        return status_of(self._ask("head_object", name, {MISSING})) != MISSING

    def url(self, name: str | None) -> str:
        """The address that never expires."""
        if self.base_url is None or name is None:
            raise ValueError(f"The files of the bucket {self.bucket} have no public address.")
        return self.base_url + checked(name)

    def signed_url(self, name: str, seconds: int) -> str:
        """An address for whoever is given it, for so long. Nothing is asked of the bucket."""
        place = {"Bucket": self.bucket, "Key": checked(name)}
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
        """Ask once. A refusal with a status that is `fine` is an answer, any other an error."""
        from botocore.exceptions import ClientError

        place = {"Bucket": self.bucket, "Key": checked(name)}
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
        if "ETag" not in answer:  # a web site says 200 to much, and has stored nothing
            reason = f"{self._place(name)}: S3_ENDPOINT_URL does not answer like a storage."
            raise StorageRefused(reason=reason)
        return answer

    @contextmanager
    def _explained(self, name: str) -> Iterator[None]:
        """Turn boto's errors into ours. They are named, not quoted: no secret gets into a text."""
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
        except (BotoCoreError, ValueError) as error:  # what boto says before it sends anything
            why = f"{self._place(name)}: {type(error).__name__}."
            reason = f"{why} Check the settings S3_ and AWS_ (docs/storage.md)."
            raise StorageRefused(reason=reason) from error

    def _place(self, name: str) -> str:
        return f"{name} in the bucket {self.bucket}"


def status_of(answer: Any) -> int:
    return int(answer["ResponseMetadata"]["HTTPStatusCode"])


def code_of(answer: Any) -> str:
    return str(answer.get("Error", {}).get("Code", ""))[:60]


def explain(place: str, answer: Any) -> ProviderUnavailable:
    """Who must act: nobody, if the storage is only busy; else whoever set it up."""
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


# One client for each account and process: making one is slow, and threads can share it.

clients: dict[tuple[object, ...], Any] = {}
making = threading.Lock()


def client_for(endpoint_url: str, region: str, read_seconds: float) -> Any:
    # By process: a fork must not speak into its parent's connections.
    key = (os.getpid(), endpoint_url, region, read_seconds)
    with making:
        if key not in clients:
            clients[key] = new_client(endpoint_url, region, read_seconds)
        return clients[key]


def renew_lock() -> None:
    """In a fork nobody is left to release a lock that another thread of its parent held."""
    global making
    making = threading.Lock()


os.register_at_fork(after_in_child=renew_lock)


def new_client(endpoint_url: str, region: str, read_seconds: float) -> Any:
    """Credentials come from where boto looks: the environment, a profile, the machine's role."""
    import boto3  # half a second that most processes don't need to wait
    from botocore.config import Config

    config = Config(
        signature_version="s3v4",
        # "virtual" names the region in signed addresses too; other services know only "path".
        s3={"addressing_style": "path" if endpoint_url else "virtual"},
        # R2 refuses the checksums that boto adds by itself.
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
        connect_timeout=CONNECT_SECONDS,
        read_timeout=read_seconds,
        # Once more, for a connection that was dropped while idle: such a thing should not pause
        # a provider. All else is left to the queue.
        retries={"mode": "standard", "total_max_attempts": 2},
        max_pool_connections=MOST_THREADS,
    )
    # A session of our own: the shared one is not thread-safe.
    session = boto3.session.Session(region_name=region)
    return session.client("s3", endpoint_url=endpoint_url or None, config=config)
