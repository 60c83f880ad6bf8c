"""`manage.py jobs`, as a person calls it."""

import io
import json

from django.core.management import CommandError, call_command


def run(*arguments):
    """What it prints, and its exit code."""
    out = io.StringIO()
    try:
        call_command("jobs", *arguments, stdout=out)
    except SystemExit as end:
        return out.getvalue(), end.code
    except CommandError as error:
        return str(error), error.returncode
    return out.getvalue(), 0


def as_data(*arguments):
    text, _ = run(*arguments, "--json")
    return json.loads(text)
