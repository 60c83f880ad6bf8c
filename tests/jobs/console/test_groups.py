"""Processes and batches on the command line."""

import pytest
from django.core.management import CommandError, call_command

from jobs import queue
from tests.jobs.batching import new_process, submitted
from tests.testapp.models import Chore

pytestmark = pytest.mark.django_db


def test_the_command_lists_and_shows_batches(capsys):
    batch = submitted()

    call_command("jobs", "batches")
    call_command("jobs", "batches", str(batch.pk))

    told = capsys.readouterr().out
    assert f"{batch.pk}  submitted    40 % of 10" in told
    assert "remote_id: batches/1" in told


def test_the_command_lists_and_shows_processes(capsys):
    process = new_process("a", "b")
    queue.cancel(Chore.objects.filter(name="a"))

    call_command("jobs", "processes")
    call_command("jobs", "processes", str(process.pk))

    told = capsys.readouterr().out
    assert f"{process.pk}   50 %  1/2" in told
    assert "waits_for: its jobs wait for their turn" in told


@pytest.mark.parametrize("what", ["processes", "batches"])
def test_an_unknown_id_is_told(what):
    with pytest.raises(CommandError, match="There is no"):
        call_command("jobs", what, "0198c0de-7a31-7c6e-8a53-1f0e4d2b9a77")
    with pytest.raises(CommandError, match="is not the id of a"):
        call_command("jobs", what, "x")
