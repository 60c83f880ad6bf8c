"""django-tasks-db's own tests, with our backend behind a stand-in for its package (`shim`).

They run in a process of their own: their package is called `tests`, like ours. Not one was changed.
Those that are not asked, by what they want:

- its own number of queries: test_run_enqueued_task, test_batch_processes_all_tasks, test_no_tasks,
  test_failing_task, test_complex_exception, test_run_after
- ids of version 4, or a function for ids: test_enqueue_task*, test_*id_function*
- columns of its own table: test_refresh_result*, test_run_after_null_0016_migration,
  test_priority_range_check, test_index_scan_for_ready, test_invalid_task_path,
  test_missing_task_path, test_task_import_string, test_task_name, AdminTestCase
- the order of tasks that are not due yet: test_run_after_priority
- its locks: test_locks_*, test_lock_no_rows, test_get_locked_with_locked_rows,
  test_worker_with_locked_rows, ConnectionExclusiveTranscationTestCase
- workers of one queue or one backend: test_*_queue*, test_doesnt_process_different_backend
- options and lines of its worker: test_*_interval, test_*max_tasks, test_*_worker_id,
  test_*_backend, test_verbose_logging; the words of one error: test_complex_return_value
- its command that deletes old results: DatabaseBackendPruneTaskResultsTestCase
- a worker that starts within a second or two: DatabaseWorkerProcessTestCase
- its module compat: CompatTestCase; its app's name: test_database_backend_app_missing
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.jobs.tasks import judges

HERE = Path(__file__).parent
PROJECT = HERE.parents[2]
SOURCE = judges.found(judges.TASKS_DB)

JUDGING = {
    "DatabaseBackendTestCase": [
        "test_using_correct_backend",
        "test_get_result",
        "test_get_result_async",
        "test_get_missing_result",
        "test_async_get_missing_result",
        "test_invalid_uuid",
        "test_async_invalid_uuid",
        "test_check",
        "test_doesnt_wait_until_transaction_commit",
        "test_enqueue_logs",
        "test_run_after_tz",
        "test_validate_on_enqueue",
        "test_validate_on_aenqueue",
    ],
    "DatabaseBackendWorkerTestCase": [
        "test_worker_doesnt_exit_on_failure",
        "test_takes_context",
        "test_context",
    ],
    "DatabaseTaskResultTestCase": ["test_cross_connection"],
    "DBTaskResultOrderingTestCase": [
        "test_higher_priority_tasks_come_first",
        "test_earlier_run_after_comes_first_given_same_priority",
        "test_earlier_enqueued_at_comes_first_given_same_priority_and_run_after",
    ],
}


@pytest.mark.long
@pytest.mark.skipif(SOURCE is None, reason=f"no source of {judges.TASKS_DB}: `make judges` gets it")
def test_the_tests_of_django_tasks_db_pass_with_our_backend(tmp_path):
    package = tmp_path / "tests"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "tests.py").symlink_to(SOURCE / "tests" / "tests.py")
    for ours in ("settings.py", "tasks.py"):
        (package / ours).symlink_to(HERE / "shim" / ours)
    names = [f"{case}.{test}" for case, tests in JUDGING.items() for test in tests]

    done = subprocess.run(
        [sys.executable, HERE / "shim" / "run.py", *names],
        cwd=tmp_path,
        env=os.environ
        | {
            "DEBUG": "true",
            "DATABASE_URL": f"sqlite:///{tmp_path}/own.sqlite3",
            "DJANGO_SETTINGS_MODULE": "tests.settings",
            "PYTHONPATH": os.pathsep.join(map(str, [tmp_path, HERE / "shim", PROJECT])),
        },
        capture_output=True,
        text=True,
    )

    assert done.stdout, done.stderr
    ended = json.loads(done.stdout.splitlines()[-1])
    assert (ended["failed"], ended["skipped"]) == ([], []), done.stderr
    assert sorted(ended["passed"]) == sorted(names)
