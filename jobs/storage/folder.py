"""Files on this machine, or on a disk that all servers share."""

import errno
import os
import tempfile
from pathlib import Path

from django.core.files.storage import FileSystemStorage

from jobs.errors import ProviderUnavailable, StorageRefused, StorageUnavailable
from jobs.storage.names import checked

NOT_PERMITTED = {errno.EACCES, errno.EPERM, errno.EROFS}


class Folder(FileSystemStorage):
    """Files on this machine. A file gets its name only when it is complete."""

    def put(self, name: str, content: bytes) -> None:
        """Store it, unless the name is taken. On return it survives a power cut."""
        path = Path(self.path(checked(name)))
        try:
            if not path.exists():
                self._write(path, content)
            self._sync(path.parent)
        except OSError as error:
            raise self._explain(f"storing {name}", error) from error

    def exists(self, name: str) -> bool:
        """Whether the file is there. A folder that may not be read is no empty folder."""
        try:
            os.lstat(self.path(checked(name)))
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            raise self._explain(f"looking for {name}", error) from error
        return True

    def read(self, name: str) -> bytes:
        """The whole file; FileNotFoundError if there is none."""
        path = Path(self.path(checked(name)))
        try:
            return path.read_bytes()
        except FileNotFoundError:
            raise
        except OSError as error:
            raise self._explain(f"reading {name}", error) from error

    def read_range(self, name: str, offset: int, length: int) -> bytes:
        """A part of the file, shorter at its end; FileNotFoundError if there is no file."""
        path = Path(self.path(checked(name)))
        try:
            with path.open("rb") as file:
                file.seek(offset)
                return file.read(length)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise self._explain(f"reading {name}", error) from error

    def remove(self, name: str) -> None:
        """Delete the file, if there is one. On return it is gone, even after a power cut."""
        path = Path(self.path(checked(name)))
        try:
            path.unlink(missing_ok=True)
            if path.parent.exists():
                self._sync(path.parent)
        except NotADirectoryError:
            pass  # like `exists`: there is no such file
        except OSError as error:
            raise self._explain(f"deleting {name}", error) from error

    def _write(self, path: Path, content: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        # In the same folder, so that it is on the same file system.
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
        """Make new names durable, also those of new folders."""
        root = Path(self.location)
        for changed in (folder, *folder.parents):
            descriptor = os.open(changed, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            if changed == root:
                break

    def _explain(self, doing: str, error: OSError) -> ProviderUnavailable:
        # The cause first: the name of a file is long, and texts are cut at their end.
        why = f"The folder {self.location}: {error.strerror or error}, while {doing}."
        if error.errno in NOT_PERMITTED:
            return StorageRefused(reason=f"{why} Allow this account to read and write there.")
        return StorageUnavailable(reason=f"{why} Look whether the disk is full or gone.")


def give_name(part: str, path: Path) -> None:
    """Give a complete file its name, unless another process was quicker."""
    try:
        os.link(part, path)
    except FileExistsError:
        pass
    except OSError:  # a file system without links
        os.replace(part, path)  # if another process was quicker, the content is the same
