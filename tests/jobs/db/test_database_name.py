"""A database that has a name is named wherever a person could take it for another."""

import io
import json

import pytest
from django.core.management import CommandError, call_command


@pytest.fixture
def status():
    def status(*options):
        out = io.StringIO()
        with pytest.raises(SystemExit):  # there are jobs, and no worker
            call_command("jobs", "status", *options, stdout=out)
        return out.getvalue()

    return status


@pytest.mark.django_db
def test_status_names_the_database(status, settings, chore):
    assert "database:" not in status()
    assert json.loads(status("--json"))["database"] == ""

    settings.DATABASE = "tokyo"

    assert status().startswith("database: tokyo\n")
    assert json.loads(status("--json"))["database"] == "tokyo"


@pytest.mark.parametrize("command", [["runworker", "--drain"], ["jobs", "status"], ["dev"]])
def test_a_name_that_nothing_took_out_is_refused_and_not_ignored(command):
    name, *options = command

    with pytest.raises(CommandError, match="--database: invalid choice: 'tokyo'"):
        call_command(name, "--database", "tokyo", *options)
