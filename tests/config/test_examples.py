"""The examples of the README, run as they are printed."""

import re
import sys

import pytest

from tests.config.printed import ROOT, examples

PRINT = """
print(list(Postcard.objects.order_by("address").values_list("status", "text")))
"""
WRITTEN = "[('succeeded', 'Greetings to Anna!'), ('succeeded', 'Greetings to Ben!')]\n"
MODEL, ENQUEUE = examples("README.md")
_RUN, _TEST, INSTALL, PERFORM = examples("README.md", "sh")
SHELL = ".venv/bin/python manage.py shell --verbosity 0"


@pytest.mark.long
def test_the_job_in_the_readme_runs_as_it_is_printed(checkout, paste):
    (checkout / ".venv").symlink_to(sys.prefix)
    (checkout / "postcards").mkdir()
    (checkout / "postcards" / "models.py").write_text(MODEL)

    paste(INSTALL)
    paste(SHELL, ENQUEUE)
    listed = paste(PERFORM)

    assert listed.count(" succeeded ") == 2
    # Enqueueing again changes nothing.
    assert paste(SHELL, ENQUEUE + PRINT) == WRITTEN


def test_every_target_of_make_that_is_named_exists():
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]
    named = {name for page in pages for name in re.findall(r"`make ([a-z0-9-]+)", page.read_text())}

    assert named - targets == set()
