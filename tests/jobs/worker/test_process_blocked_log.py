import fcntl
import os
import subprocess
import sys

import pytest

from tests.jobs import processes
from tests.jobs.forked import ROOT
from tests.jobs.processes import (
    SHORT,
    all_ended,
    assert_each_done_once,
    enqueue_chores,
    environment,
    wait_until,
)

pytestmark = pytest.mark.django_db(transaction=True)
start = processes.start

BLOCKED = 70


@pytest.fixture
def full_pipe():
    """A pipe without a reader: a process that writes more than 4 KB to it blocks for ever."""
    read_end, write_end = os.pipe()
    fcntl.fcntl(write_end, fcntl.F_SETPIPE_SZ, 4096)
    yield write_end
    os.close(read_end)
    os.close(write_end)


@pytest.mark.long
def test_a_worker_whose_log_can_not_be_written_ends_and_others_do_its_jobs(start, full_pipe):
    ids = enqueue_chores(200, seconds=0.01)
    mute = subprocess.Popen(
        [sys.executable, "manage.py", "runworker", "--poll=0.2", f"--lease={SHORT}"],
        cwd=ROOT,
        env=os.environ | environment(),
        stdin=subprocess.DEVNULL,
        stderr=full_pipe,
    )
    try:
        assert mute.wait(90) == BLOCKED
    finally:
        mute.kill()
        mute.wait()

    start()
    wait_until(all_ended)

    assert_each_done_once(ids)
