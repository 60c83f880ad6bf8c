import gc
import logging
import os
import signal
import sys
from argparse import ArgumentParser
from contextlib import suppress
from datetime import timedelta
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError
from django.db import Error

from jobs.db import sessions
from jobs.models import Job, job_models
from jobs.paid import limits
from jobs.worker.heartbeat import say_briefly
from jobs.worker.logs import TextFormatter
from jobs.worker.loop import Loop
from jobs.worker.options import Options

SHORTEST_LEASE = 2


class Command(BaseCommand):
    help = "Runs queued jobs until stopped with SIGINT or SIGTERM."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--max-concurrent", type=int, default=8, metavar="N", help="jobs at once (8)"
        )
        parser.add_argument(
            "--batch", type=int, default=500, metavar="N", help="most jobs per claim (500)"
        )
        parser.add_argument(
            "--poll", type=float, default=1, metavar="S", help="seconds between looks (1)"
        )
        parser.add_argument(
            "--lease",
            type=float,
            default=60,
            metavar="S",
            help="seconds without a beat after which another worker takes over (60; at least 2)",
        )
        parser.add_argument("--drain", action="store_true", help="stop when no job is due")
        parser.add_argument(
            "--jobs", nargs="+", metavar="app.Model", help="run only these kinds of job"
        )

    def handle(self, **options: Any) -> None:
        refuse_nonsense(options)
        log_to_terminal(LEVELS[options["verbosity"]])
        models = chosen_models(options["jobs"])
        refuse_without_setup(models)
        loop = Loop(
            models,
            Options(
                slots=options["max_concurrent"],
                batch=options["batch"],
                poll=options["poll"],
                lease=timedelta(seconds=options["lease"]),
            ),
        )
        signal.signal(signal.SIGTERM, loop.stop)
        signal.signal(signal.SIGINT, loop.stop)
        sessions.share_pool()
        sessions.own_connection()
        with suppress(Error):  # if the database is down, each row is created on first use
            limits.make_rows(models)
        # Everything loaded so far is never garbage: don't scan it again and again.
        gc.freeze()
        gc.set_threshold(10_000)
        code = loop.run(drain=options["drain"])
        if loop.crew.hung or loop.crew.abandoned:
            # Hung threads, and any locks they hold, must not keep the process from ending.
            say_briefly(logging.shutdown)
            os._exit(code)
        sys.exit(code)


LEVELS = [logging.WARNING, logging.INFO, logging.DEBUG, logging.DEBUG]


def log_to_terminal(level: int) -> None:
    """A worker of a project that has not configured any log is not silent either."""
    log = logging.getLogger("jobs")
    log.setLevel(level)
    if not log.hasHandlers():
        handler = logging.StreamHandler()
        handler.setFormatter(TextFormatter())
        log.addHandler(handler)


def refuse_nonsense(options: dict[str, Any]) -> None:
    if not options["lease"] >= SHORTEST_LEASE:
        raise CommandError(f"--lease {options['lease']:g}: it must be at least {SHORTEST_LEASE} s.")
    for name in ("max_concurrent", "batch", "poll"):
        if not options[name] > 0:
            flag = "--" + name.replace("_", "-")
            raise CommandError(f"{flag} {options[name]:g}: it must be more than 0.")


def refuse_without_setup(models: list[type[Job]]) -> None:
    for model in models:
        try:
            model.check_setup()
        except ImproperlyConfigured as error:
            raise CommandError(f"{model._meta.label} can't be run here: {error}") from error


def chosen_models(labels: list[str] | None) -> list[type[Job]]:
    known = {model._meta.label: model for model in job_models()}
    for label in labels or []:
        if label not in known:
            raise CommandError(
                f"--jobs {label}: there is no such job. Known: {', '.join(known) or 'none'}."
            )
    return [known[label] for label in labels or known]
