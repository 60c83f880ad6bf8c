"""An argument that several commands have."""

from argparse import ArgumentParser

from django.db import DEFAULT_DB_ALIAS


def add_database(parser: ArgumentParser) -> None:
    """Tell of `--database` in the help.

    A process has one database. A name of the settings is taken out before a command sees it, by
    manage.py; where nothing does that, a name is refused and not ignored.
    """
    parser.add_argument(
        "--database",
        choices=[DEFAULT_DB_ALIAS],
        metavar="NAME",
        help="one of the databases that the settings name (docs/databases.md)",
    )
