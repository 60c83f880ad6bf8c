from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from guides.weeks import asking
from guides.weeks.jobs import Wanted
from guides.weeks.keys import InvalidWeek


class Command(BaseCommand):
    help = "Sums up a week, such as 2026-W47, unless the same facts are summed up already."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("week_key")
        parser.add_argument("--again", action="store_true", help="Also if nothing has changed.")

    def handle(self, *, week_key: str, again: bool, **options: Any) -> None:
        wanted = Wanted.ALL if again else Wanted.CHANGED
        try:
            is_new = asking.weekly_summary(week_key, wanted=wanted, by="command line")
        except InvalidWeek as error:
            raise CommandError(str(error)) from None
        if not is_new:
            raise CommandError(f"{week_key} is being summed up already.")
        self.stdout.write(f"{week_key}: a worker sums it up.")
