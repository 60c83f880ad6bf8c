import pytest
from django.urls import reverse

from jobs.paid import pausing
from jobs.tasks.models import TaskJob
from tests.testapp import tasks

pytestmark = pytest.mark.django_db

EVIL = "<script>alert(1)</script>"


def page_of(client, result):
    return client.get(reverse("admin:jobs_taskjob_change", args=[result.id])).content.decode()


def test_tasks_are_in_the_menu_and_in_a_list(viewer):
    tasks.add.enqueue(1)

    page = viewer.get(reverse("admin:jobs_taskjob_changelist")).content.decode()

    assert "tests.testapp.tasks.add" in page
    menu = viewer.get(reverse("admin:index")).content.decode()
    assert reverse("admin:jobs_taskjob_changelist") in menu


def test_the_page_shows_arguments_and_return_value_as_text(viewer, work):
    result = tasks.add.enqueue(EVIL, right=f"{EVIL}!")
    waiting = page_of(viewer, result)
    work()

    page = page_of(viewer, result)

    assert "Return value" not in waiting
    assert "Return value" in page
    assert EVIL not in waiting + page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;!" in page


def test_the_page_of_a_task_that_the_code_does_not_know_opens(viewer, work):
    job = TaskJob.objects.create(task_path=f"os.{EVIL}", args={EVIL: EVIL}, kwargs=[EVIL])
    work()

    page = viewer.get(reverse("admin:jobs_taskjob_change", args=[job.pk])).content.decode()

    assert EVIL not in page
    assert "declares no task" in page


def test_a_long_argument_is_cut(viewer):
    result = tasks.add.enqueue("x" * 100_000)

    page = page_of(viewer, result)

    assert "more letters" in page
    assert "x" * 30_000 not in page


def test_a_task_says_that_its_own_provider_is_paused(viewer):
    result = tasks.ask_shop.enqueue()
    tasks.add.enqueue(1)
    pausing.pause("shop:api", "closed")

    listed = viewer.get(reverse("admin:jobs_taskjob_changelist")).content.decode()

    assert listed.count("the provider is paused") == 1
    assert "the provider is paused" in page_of(viewer, result)
