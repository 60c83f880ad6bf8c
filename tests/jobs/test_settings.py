"""The settings of `jobs`: a project needs to set none of them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import global_settings
from django.core.exceptions import ImproperlyConfigured

from jobs import settings as ours
from jobs import storage
from jobs.settings import DEFAULTS

ROOT = Path(__file__).parents[2]
READ = re.compile(r"\bsettings\.([A-Z][A-Z0-9_]+)")


def test_every_setting_that_is_read_has_a_default():
    read = {name for file in ROOT.glob("jobs/**/*.py") for name in READ.findall(file.read_text())}

    assert len(read) > 20
    assert read - set(DEFAULTS) - set(dir(global_settings)) == set()


def test_every_setting_is_explained():
    text = (ROOT / "docs" / "settings.md").read_text()

    assert [name for name in DEFAULTS if not re.search(rf"\b{name}\b", text)] == []


def test_what_the_project_has_set_wins(settings):
    del settings.UNKNOWN_REPEATS
    assert DEFAULTS["UNKNOWN_REPEATS"] == ours.UNKNOWN_REPEATS

    settings.UNKNOWN_REPEATS = 7
    assert ours.UNKNOWN_REPEATS == 7


def test_reading_the_defaults_reads_no_settings():
    """The project's own settings do so, before there are any."""
    code = (
        "from jobs.settings import DEFAULTS; import django.conf as c; print(c.settings.configured)"
    )
    told = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)

    assert told.stdout == "False\n", told.stderr


def test_a_setting_that_nobody_knows_is_an_error():
    with pytest.raises(AttributeError, match="UNKOWN_REPEATS"):
        _ = ours.UNKOWN_REPEATS


def test_answers_have_a_folder_beside_the_project(settings, tmp_path):
    settings.STORAGES = {k: v for k, v in settings.STORAGES.items() if k != "answers"}
    settings.BASE_DIR = tmp_path

    storage.named("answers").put("calls/a/1", b"paid")

    assert (tmp_path / "answers/calls/a/1").read_bytes() == b"paid"
    assert (tmp_path / "answers/calls/a/1").stat().st_mode & 0o777 == 0o600


def test_answers_without_any_place_are_refused_with_the_lines_to_add(settings):
    settings.STORAGES = {k: v for k, v in settings.STORAGES.items() if k != "answers"}
    del settings.BASE_DIR

    with pytest.raises(ImproperlyConfigured, match="STORAGES has no"):
        storage.named("answers")
