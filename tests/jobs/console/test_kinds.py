"""A kind of job that no admin module mentions: it has its pages by itself."""

import pytest
from django.contrib import admin
from django.urls import reverse

from jobs.admin.kinds import register_all
from jobs.models import job_models
from tests.jobs.conftest import new_chore
from tests.jobs.console.pages import LIST
from tests.testapp.models import Hooked, NoopJob, Order

pytestmark = pytest.mark.django_db


def test_every_kind_of_job_has_pages():
    assert all(admin.site.is_registered(model) for model in job_models())

    register_all()  # and asking twice is harmless


def test_a_new_kind_is_in_the_menu_of_those_who_may_see_it(operator, client):
    page = operator.get(LIST).text

    for model in (NoopJob, Order, Hooked):
        address = reverse(f"admin:testapp_{model._meta.model_name}_changelist")
        assert page.count(f'href="{address}"') == 1
        assert operator.get(address).status_code == 200


def test_its_list_shows_its_name_and_its_own_columns(operator):
    NoopJob.objects.create()
    job = Hooked.objects.create(name="paint " + "x" * 200, raises_in="on_start")

    page = operator.get(reverse("admin:testapp_hooked_changelist")).text

    assert str(job) in page
    for name in ("name", "fails", "raises_in", "colour"):
        assert f"field-{name} " in page
    assert "paint xxx" in page
    assert "x" * 100 not in page  # a long text is cut
    assert "field-noticed_at" not in page  # four are enough
    assert "on_start" in page


def test_a_job_s_own_name_comes_first(operator):
    job = new_chore("sweep")

    shown = operator.get(LIST).context["cl"].list_display

    assert shown[1] == "subject"
    assert str(job) in operator.get(LIST).text


def test_the_page_of_such_a_job_opens(operator):
    job = NoopJob.objects.create()

    assert operator.get(reverse("admin:testapp_noopjob_change", args=[job.pk])).status_code == 200
