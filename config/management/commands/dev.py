import os
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from config import dev
from jobs.management.arguments import add_database


class Command(BaseCommand):
    help = "Runs the database, the web server and a worker until Ctrl-C. `make run` calls it."
    requires_system_checks = []  # runserver runs them

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_database(parser)

    def handle(self, **options: Any) -> None:
        sys.exit(dev.run(os.environ.get("PORT") or "8000"))
