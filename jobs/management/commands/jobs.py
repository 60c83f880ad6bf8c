"""The console for terminals and scripts."""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from jobs.alerts.cli import alerts
from jobs.console import audit, cli
from jobs.db import text
from jobs.management.arguments import add_database

ANSWERS = {**cli.ANSWERS, "alerts": alerts}
EPILOG = "Exit codes: 0 done, or all is well; 1 something needs a person, or was left; 2 misused."


class Command(BaseCommand):
    help = f"Shows and moves jobs, pauses and resumes providers and kinds of jobs. {EPILOG}"

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_database(parser)
        does = parser.add_subparsers(dest="does", required=True, metavar="COMMAND")
        for name, help in (
            (
                "status",
                "what needs a person (exit code 1 if anything does), and how many jobs there are",
            ),
            ("list", "the newest jobs"),
            ("show", "one job with its attempts and calls"),
            ("requeue", "give failed and canceled jobs a new start"),
            ("cancel", "cancel jobs that wait or run"),
            ("reschedule", "give queued jobs another time or priority"),
            ("pause", "start no more calls of a provider, or no more jobs of a kind"),
            ("resume", "let calls of a provider, or jobs of a kind, start again"),
            ("processes", "the newest processes, or one of them: how far it is and what it awaits"),
            ("batches", "the newest batches, or one of them: how far it is and what it costs"),
            ("schedules", "all schedules, or one of them: when it runs; or run or switch it"),
            ("alerts", "the newest alerts, and whether they were told"),
            ("archive", "let everything leave the database that is old enough"),
            ("totals", "how many attempts ended how and what was spent, also of what has left"),
        ):
            command = does.add_parser(name, help=help, description=help.capitalize() + ".")
            command.add_argument("--json", action="store_true", help="for scripts")
            ARGUMENTS[name](command)

    def handle(self, *, does: str, **options: Any) -> None:
        if "by" in options:
            only_shows = options["dry_run"] or options.get("do", "act") is None
            options["by"] = person(options["by"], only_shows=only_shows)
        answer = ANSWERS[does](**options)
        if options["json"]:
            self.stdout.write(json.dumps(answer.data, indent=2, default=str))
        else:
            for line in answer.lines:
                self.stdout.write(text.printable(line))
        if not answer.is_well:
            sys.exit(1)


def person(name: str | None, *, only_shows: bool) -> object:
    """The user for Django's log: the named one, or else the command line's own user."""
    if not name:
        return audit.COMMAND_LINE if only_shows else audit.command_line()
    user = User.objects.filter(username=name).first()
    if user is None:
        raise CommandError(f"--by {name}: there is no such user.", returncode=2)
    return user


def select(parser: ArgumentParser) -> None:
    parser.add_argument("--kind", metavar="app.Model", help="only this kind of job")
    parser.add_argument("--status", help="only jobs in this status")
    parser.add_argument("--error-kind", help="only failures of this kind")


def acted(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--dry-run", action="store_true", help="show what would change, without changing it"
    )
    parser.add_argument("--by", metavar="USER", help="the user named in Django's log")


def several(parser: ArgumentParser) -> None:
    parser.add_argument("ids", nargs="*", metavar="ID", help="these jobs")
    select(parser)
    parser.add_argument("--all", action="store_true", help="all of them")
    acted(parser)


def requeue(parser: ArgumentParser) -> None:
    several(parser)
    parser.add_argument("--first", action="store_true", help="first in line")


def reschedule(parser: ArgumentParser) -> None:
    several(parser)
    parser.add_argument("--at", metavar="TIME", help="not before, e.g. 2030-12-31T18:00")
    parser.add_argument("--in-minutes", type=float, metavar="N", help="not before so many minutes")
    parser.add_argument("--priority", type=int, metavar="N", help="lower first")


def asked(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--probe",
        action="store_true",
        help="one word instead; exit code 1 only if the database or a needed worker is missing",
    )


def listed(parser: ArgumentParser) -> None:
    select(parser)
    parser.add_argument("--trace", metavar="ID", help="only jobs of this trace")
    parser.add_argument("--limit", type=int, default=20, help="at most this many lines (20)")


def shown(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID")


def newest(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", nargs="?", help="this one in detail")
    parser.add_argument("--limit", type=int, default=20, help="at most this many lines (20)")


def alerted(parser: ArgumentParser) -> None:
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--test", action="store_true", help="send a test message")
    instead.add_argument(
        "--secret", action="store_true", help="print the key by which the webhook checks signatures"
    )
    parser.add_argument("--limit", type=int, default=20, help="at most this many lines (20)")


def paused(parser: ArgumentParser) -> None:
    resumed(parser)
    parser.add_argument("--reason", default="", help="why")
    parser.add_argument("--minutes", type=float, help="how long; without it, until resumed")


def resumed(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="PROVIDER|app.Model")
    acted(parser)


def scheduled(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", nargs="?", help="this one in detail")
    act = parser.add_mutually_exclusive_group()
    act.add_argument("--run", dest="do", action="store_const", const="run", help="run it now")
    act.add_argument("--on", dest="do", action="store_const", const="on", help="switch it on")
    act.add_argument("--off", dest="do", action="store_const", const="off", help="switch it off")
    acted(parser)


def archived(parser: ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="show what would leave, and its age")


def summed(parser: ArgumentParser) -> None:
    parser.add_argument("--days", type=int, metavar="N", help="only the last N days, with today")


ARGUMENTS: dict[str, Callable[[ArgumentParser], None]] = {
    "status": asked,
    "list": listed,
    "show": shown,
    "requeue": requeue,
    "cancel": several,
    "reschedule": reschedule,
    "pause": paused,
    "resume": resumed,
    "processes": newest,
    "batches": newest,
    "schedules": scheduled,
    "alerts": alerted,
    "archive": archived,
    "totals": summed,
}
