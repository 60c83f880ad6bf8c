import gc
import logging
import math
import os
import re
import signal
import sys
from argparse import ArgumentParser
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError
from django.db import Error

from jobs import spans
from jobs.db import sessions
from jobs.management.arguments import add_database
from jobs.models import Job, job_models
from jobs.paid import limits
from jobs.worker import alive, memory
from jobs.worker.heartbeat import say_briefly
from jobs.worker.logs import TextFormatter
from jobs.worker.loop import Loop
from jobs.worker.options import Options

log = logging.getLogger(__name__)

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
        parser.add_argument(
            "--alive-file",
            metavar="PATH",
            help="touched by every beat, deleted when the worker stops; for probes",
        )
        parser.add_argument("--drain", action="store_true", help="stop when no job is due")
        parser.add_argument(
            "--for", metavar="TIME", help="claim no more after this time: 50, 50s or 2m"
        )
        parser.add_argument(
            "--jobs", nargs="+", metavar="app.Model", help="run only these kinds of job"
        )
        add_database(parser)

    def handle(self, **options: Any) -> None:
        refuse_nonsense(options)
        seconds = duration(options["for"])
        log_to_terminal(LEVELS[options["verbosity"]])
        models = chosen_models(options["jobs"])
        refuse_without_setup(models)
        refuse_impatient_watchdog(options["lease"])
        loop = Loop(
            models,
            Options(
                slots=options["max_concurrent"],
                batch=options["batch"],
                poll=options["poll"],
                lease=timedelta(seconds=options["lease"]),
                seconds=seconds,
                way=way(options),
                alive_file=chosen_file(options["alive_file"]),
            ),
        )
        memory.share_arenas()
        signal.signal(signal.SIGTERM, loop.stop)
        signal.signal(signal.SIGINT, loop.stop)
        sessions.share_pool()
        sessions.own_connection()
        with suppress(Error):  # if the database is down, each row is created on first use
            limits.make_rows(models)
            note_too_slow(models, seconds)
        spans.tracer()  # loaded now, not in the first job
        # Everything loaded so far is never garbage: don't scan it again and again.
        gc.freeze()
        gc.set_threshold(10_000)
        code = loop.run(drain=options["drain"])
        spans.stop()
        if loop.crew.hung or loop.crew.abandoned:
            # Hung threads, and any locks they hold, must not keep the process from ending.
            say_briefly(logging.shutdown)
            os._exit(code)
        sys.exit(code)


UNITS = {"": 1, "s": 1, "m": 60}


def duration(text: str | None) -> float:
    """Seconds from a text like 50, 50s or 2m; without one, for ever."""
    if text is None:
        return math.inf
    match = re.fullmatch(r"([0-9]{1,6})([sm]?)", text)
    if match is None or not int(match[1]):
        raise CommandError(f"--for {text}: it must be a time of at least 1 s: 50, 50s or 2m.")
    return float(int(match[1]) * UNITS[match[2]])


def way(options: dict[str, Any]) -> str:
    """How a worker that does not stay was started."""
    if options["drain"]:
        return "runworker --drain"
    return "runworker --for" if options["for"] else ""


def note_too_slow(models: list[type[Job]], seconds: float) -> None:
    """Log which paid calls this worker has no time for: their jobs are left to others."""
    for model in models:
        if not limits.has_time(model, seconds):
            label, name = model._meta.label, model.provider_name()
            log.warning("%s: a call of %s may take longer than --for allows.", label, name)


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


def refuse_impatient_watchdog(lease: float) -> None:
    seconds = alive.watchdog_seconds()
    if seconds is not None and seconds < 2 * lease:
        raise CommandError(
            f"WatchdogSec={seconds:g}: systemd would end a worker that only waits for the database."
            f" It must be at least {2 * lease:g}, twice the lease."
        )


def chosen_file(path: str | None) -> Path | None:
    """The file to touch, written once to see that it can be."""
    if path is None:
        return None
    file = Path(path)
    try:
        if file.exists() and (not file.is_file() or file.stat().st_size):
            raise CommandError(
                f"--alive-file {path}: it exists and is not an empty file. The worker would delete"
                " it when it stops, so name another one."
            )
        file.touch()
    except OSError as error:
        raise CommandError(
            f"--alive-file {path}: it can't be written ({error.strerror})."
        ) from error
    return file


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
