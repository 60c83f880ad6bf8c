from django.db import models
from django.test.utils import isolate_apps

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
