import os
import sys
import time
from datetime import timedelta
from pathlib import Path

from django.core.management.base import BaseCommand
from django.db import close_old_connections, connection

from jobs import queue
from jobs.models import Outcome
from jobs.queue.outcomes import End
from tests.testapp.models import Digest

RACERS = 50
KEY = "the week"


class Command(BaseCommand):
    help = "Lets many processes ask for the same job at once; each writes what it got to a file."

    def add_arguments(self, parser):
        parser.add_argument("folder", type=Path)
        parser.add_argument("--ends-at-once", action="store_true")
        parser.add_argument("--asks", type=int, default=1)

    def handle(self, *, folder, ends_at_once, asks, **options):
        connection.close()  # forked processes must not share it
        racers = [start(folder / str(number), ends_at_once, asks) for number in range(RACERS)]
        (folder / "go").touch()
        codes = [os.waitstatus_to_exitcode(os.waitpid(racer, 0)[1]) for racer in racers]
        sys.exit(max(map(abs, codes)))


def start(file, ends_at_once, asks):
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        while not (file.parent / "go").exists():
            time.sleep(0.005)
        created = [id for _ in range(asks) for id in ask(ends_at_once)]
        file.write_text("\n".join(map(str, created)))
        code = 0
    finally:
        connection.close()
        os._exit(code)


def ask(ends_at_once):
    close_old_connections()
    created = queue.enqueue([Digest(unique_key=KEY)], not_within=timedelta(hours=1))
    if created and ends_at_once:
        [job] = queue.claim(Digest, 1, f"racer {os.getpid()}", timedelta(minutes=1))
        queue.settle([End(job, Outcome.SUCCEEDED)])
    return created
