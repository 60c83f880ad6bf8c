"""A folder as storage: a file with its final name is complete and never changes."""

import errno
import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.core.exceptions import SuspiciousFileOperation

from jobs.errors import StorageRefused, StorageUnavailable
from jobs.storage import Folder
from tests.jobs.storage.servers import ROOT

NAME = "calls/abc/1"


@pytest.fixture
def folder(tmp_path):
    return Folder(location=tmp_path / "files", base_url="/")


def files_in(folder):
    return [name for _, _, names in os.walk(folder.location) for name in names]


def test_what_is_put_can_be_read(folder):
    folder.put(NAME, b"answer")

    assert folder.exists(NAME)
    assert folder.read(NAME) == b"answer"
    with folder.open(NAME) as file:
        assert file.read() == b"answer"
    assert folder.url(NAME) == f"/{NAME}"


@pytest.mark.parametrize(
    ("offset", "length", "part"), [(0, 3, b"012"), (4, 3, b"456"), (8, 9, b"89"), (20, 3, b"")]
)
def test_a_part_can_be_read(folder, offset, length, part):
    folder.put(NAME, b"0123456789")

    assert folder.read_range(NAME, offset, length) == part


def test_a_part_of_what_is_not_there_can_not_be_read(folder):
    with pytest.raises(FileNotFoundError):
        folder.read_range(NAME, 0, 3)


def test_what_is_removed_is_gone_and_the_name_is_free(folder):
    folder.put(NAME, b"answer")

    folder.remove(NAME)
    folder.remove(NAME)  # twice is once
    folder.remove("calls/never/1")

    assert not folder.exists(NAME)
    folder.put(NAME, b"another")
    assert folder.read(NAME) == b"another"


def test_what_is_stored_is_never_overwritten(folder):
    folder.put(NAME, b"first")
    folder.put(NAME, b"other")

    assert folder.read(NAME) == b"first"
    assert files_in(folder) == ["1"]


def test_who_is_overtaken_leaves_the_other_file_alone(folder, monkeypatch):
    sync = os.fsync

    def overtaken(descriptor):
        monkeypatch.setattr(os, "fsync", sync)
        folder.put(NAME, b"first")

    monkeypatch.setattr(os, "fsync", overtaken)
    folder.put(NAME, b"other")

    assert folder.read(NAME) == b"first"
    assert files_in(folder) == ["1"]


def test_what_is_not_there_can_not_be_read(folder):
    assert not folder.exists(NAME)
    with pytest.raises(FileNotFoundError):
        folder.read(NAME)


@pytest.mark.parametrize(
    "name", ["", "/etc/passwd", "../a", "a/../../b", "a//b", ".a", "a\0", "a\\b"]
)
def test_names_can_not_lead_out_of_the_folder(folder, name):
    for use in (lambda: folder.put(name, b""), lambda: folder.read(name)):
        with pytest.raises(SuspiciousFileOperation):
            use()


def test_eight_at_once_leave_one_file(folder):
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: folder.put(NAME, b"x" * 100_000), range(8)))

    assert folder.read(NAME) == b"x" * 100_000
    assert files_in(folder) == ["1"]


def test_a_file_system_without_links_will_do(folder, monkeypatch):
    def no_links(*paths):
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    monkeypatch.setattr(os, "link", no_links)
    folder.put(NAME, b"answer")

    assert folder.read(NAME) == b"answer"
    assert files_in(folder) == ["1"]


def test_a_power_cut_takes_neither_the_file_nor_its_folders_away(folder, monkeypatch):
    synced, sync = [], os.fsync

    def record(descriptor):
        synced.append(os.fstat(descriptor).st_ino)
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", record)
    path = Path(folder.path(NAME))
    folders = [path.parent, path.parent.parent, path.parent.parent.parent]
    folder.put(NAME, b"answer")
    assert synced == [at.stat().st_ino for at in (path, *folders)]

    synced.clear()
    folder.put(NAME, b"answer")  # the process that stored it may have died before this sync
    assert synced == [at.stat().st_ino for at in folders]


def test_files_get_the_permissions_that_were_set(tmp_path):
    folder = Folder(location=tmp_path, file_permissions_mode=0o600)

    folder.put(NAME, b"answer")

    assert stat.S_IMODE((tmp_path / NAME).stat().st_mode) == 0o600


# Killed at a chosen point

PUT = """
import os, signal, sys
from django.conf import settings
settings.configure()
from jobs.storage import Folder

def die(*args, **options):
    os.kill(os.getpid(), signal.SIGKILL)

def write_half(descriptor, *args, **options):
    file = real_open(descriptor, *args, **options)
    file.write(b"half")
    file.flush()
    die()

import builtins, pathlib
real_open = open
where = {"writing": (builtins, "open", write_half), "written": (os, "fsync", die),
         "synced": (os, "link", die), "named": (pathlib.Path, "unlink", die)}
setattr(*where[sys.argv[2]])
Folder(location=sys.argv[1]).put("calls/abc/1", b"answer")
"""


@pytest.mark.parametrize("moment", ["writing", "written", "synced"])
def test_who_is_killed_before_the_end_leaves_nothing_under_the_name(folder, moment):
    killed = subprocess.run([sys.executable, "-c", PUT, folder.location, moment], cwd=ROOT)

    assert killed.returncode == -9
    assert not folder.exists(NAME)
    folder.put(NAME, b"answer")
    assert folder.read(NAME) == b"answer"


def test_who_is_killed_after_the_end_leaves_all_of_it(folder):
    killed = subprocess.run([sys.executable, "-c", PUT, folder.location, "named"], cwd=ROOT)

    assert killed.returncode == -9
    assert folder.read(NAME) == b"answer"


# What goes wrong


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (errno.ENOSPC, StorageUnavailable),
        (errno.EIO, StorageUnavailable),
        (errno.EACCES, StorageRefused),
        (errno.EROFS, StorageRefused),
    ],
)
def test_a_disk_that_fails_is_nobodys_attempt(folder, monkeypatch, number, expected):
    def fail(descriptor):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", fail)

    with pytest.raises(expected) as raised:
        folder.put(NAME, b"answer")

    assert type(raised.value) is expected
    assert all(text in str(raised.value) for text in (NAME, folder.location, os.strerror(number)))
    assert str(raised.value).startswith("The folder ")  # names of files are long
    assert files_in(folder) == []


def test_a_folder_that_can_not_be_read_is_no_empty_folder(folder, monkeypatch):
    def refused(path):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "lstat", refused)

    with pytest.raises(StorageRefused, match="Permission denied, while looking for"):
        folder.exists(NAME)
