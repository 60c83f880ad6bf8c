"""Its worker's command: ours, until nothing is due."""

from django.core.management.base import BaseCommand

from jobs.tasks.models import TaskJob
from jobs.worker.loop import Loop
from jobs.worker.options import Options


class Command(BaseCommand):
    requires_system_checks = []

    def add_arguments(self, parser):
        parser.add_argument("--batch", action="store_true")
        parser.add_argument("--no-startup-delay", action="store_false", dest="startup_delay")
        parser.add_argument("--worker-id")
        parser.add_argument("--interval", type=float)

    def handle(self, *, batch, **_):
        Loop([TaskJob], Options(slots=2, poll=0.05)).run(drain=batch)
