from textwrap import dedent

from django.apps import apps
from django.db import models
from django.test.utils import isolate_apps

from jobs.admin import checks as admin_checks
from jobs.db import checks as database_checks
from jobs.models import Job, checks
from tests.testapp.models import Chore


def test_the_models_here_are_complete():
    assert checks.check_job_models() == []


@isolate_apps("tests.testapp")
def test_a_model_that_forgets_the_constraints_is_refused(monkeypatch):
    class Forgetful(Job):
        class Meta(Job.Meta):
            app_label = "testapp"
            constraints = [models.CheckConstraint(name="x", condition=models.Q(epoch=0))]

    monkeypatch.setattr(checks, "job_models", lambda: [Forgetful, Chore])

    [error] = checks.check_job_models()

    assert error.obj is Forgetful
    assert "*Job.Meta.constraints" in error.hint


class Database:
    vendor = "sqlite"

    def __init__(self, **options):
        self.settings_dict = {"OPTIONS": options}


def test_sqlite_without_immediate_transactions_is_told_what_to_add(monkeypatch):
    monkeypatch.setattr(database_checks, "connection", Database())
    [warning] = database_checks.check_sqlite()

    database = {"default": {}}
    exec(dedent(warning.hint.partition("\n")[2]), {"DATABASES": database})
    monkeypatch.setattr(database_checks, "connection", Database(**database["default"]["OPTIONS"]))
    assert database_checks.check_sqlite() == []


def test_unfold_without_its_filters_is_refused(monkeypatch):
    monkeypatch.setattr(apps, "is_installed", lambda name: name != "unfold.contrib.filters")

    [error] = admin_checks.check_unfold()

    assert 'Add "unfold.contrib.filters" to INSTALLED_APPS' in error.hint
