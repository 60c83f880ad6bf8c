"""Runs the named tests of django-tasks-db; prints how each ended, as JSON on the last line."""

import json
import sys
import unittest

import django
from django.test.runner import DiscoverRunner

django.setup()


class Noting(unittest.TextTestResult):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.names = {"passed": [], "failed": [], "skipped": []}

    def addSuccess(self, test):
        super().addSuccess(test)
        self.names["passed"].append(name_of(test))

    def addError(self, test, error):
        super().addError(test, error)
        self.names["failed"].append(name_of(test))

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.names["failed"].append(name_of(test))

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.names["skipped"].append(name_of(test))

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error:
            self.names["failed"].append(name_of(test))


def name_of(test):
    return ".".join(test.id().split(".")[-2:])


class Runner(DiscoverRunner):
    def get_resultclass(self):
        return Noting

    def suite_result(self, suite, result, **options):
        print(json.dumps(result.names), flush=True)
        return 0


names = [f"tests.tests.{name}" for name in sys.argv[1:]]
Runner(verbosity=1, interactive=False).run_tests(names)
