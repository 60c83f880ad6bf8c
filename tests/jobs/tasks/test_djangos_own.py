"""Django's own tests of its Tasks API, with our backend instead of Django's dummy."""

import sys
import unittest

import pytest
from django.conf import settings
from django.test import TestCase, modify_settings, override_settings

from tests.jobs.tasks import judges

SOURCE = judges.found(judges.DJANGO)
if not judges.HAS_DJANGOS_TASKS:
    reason = "Django has its own Tasks API since 6.0: `make test-django6` runs its tests"
    pytest.skip(reason, allow_module_level=True)
if SOURCE is None:
    pytest.skip(f"no source of {judges.DJANGO}: `make judges` gets it", allow_module_level=True)

sys.path.append(str(SOURCE / "tests"))  # last: it has a hundred packages
from tasks import test_tasks  # type: ignore[import-not-found]  # noqa: E402

del sys.path[-1]

pytestmark = pytest.mark.django_db
# What these five ask for, no other backend can have.
UNPORTABLE = {
    "test_enqueue_task": "reads the list `results` of Django's dummy backend",
    "test_enqueue_task_async": "reads the list `results` of Django's dummy backend",
    "test_get_backend": "wants an instance of Django's dummy backend",
    "test_using_correct_backend": "wants an instance of Django's dummy backend",
    "test_refresh_result": "calls refresh() in a coroutine: a database refuses that",
}


class Judge(test_tasks.TaskTestCase, TestCase):  # type: ignore[misc]
    def setUp(self):
        """Nothing to clear: the dummy backend's list is not ours."""


for name, reason in UNPORTABLE.items():
    setattr(Judge, name, unittest.skip(reason)(getattr(Judge, name)))
OURS = {
    **test_tasks.TaskTestCase._overridden_settings["TASKS"],
    "default": {"BACKEND": "jobs.tasks.Backend", "QUEUES": ["default", "queue_1"]},
}
TestTasks = override_settings(TASKS=OURS)(
    modify_settings(INSTALLED_APPS={"append": "tasks"})(Judge)
)
del Judge, test_tasks.TaskTestCase


def test_the_tests_came_with_this_django_and_their_tasks_are_ours():
    from jobs.tasks import Task

    assert settings.TASKS["default"]["BACKEND"] == "jobs.tasks.Backend"
    assert isinstance(test_tasks.test_tasks.noop_task, Task)
    names = [name for name in dir(TestTasks) if name.startswith("test_")]
    assert len(names) >= 34 + len(UNPORTABLE) or judges.DJANGO.startswith("django-6.0")
