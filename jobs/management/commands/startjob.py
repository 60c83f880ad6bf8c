import re
from argparse import ArgumentParser
from importlib.util import find_spec
from keyword import iskeyword
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

from django.apps import AppConfig, apps
from django.core.management.base import BaseCommand, CommandError
from django.db.models import Index

from jobs.models import Job

TEMPLATES = Path(__file__).parents[1] / "startjob"


class Place(NamedTuple):
    """Where the files of a job go, and what is left for a person to write."""

    app: str
    model: Path
    test: Path
    module: str  # by which the model is imported
    todo: str


class Command(BaseCommand):
    help = "Writes a new kind of job: a model and its test."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", help="of the model, such as SendInvoice")
        parser.add_argument(
            "app",
            metavar="APP",
            nargs="?",
            help="an app, which is made if it does not exist (the job's name, as send_invoice)",
        )

    def handle(self, *, name: str, app: str | None, **_: Any) -> None:
        refuse_bad(name)
        place = place_of(name, app or snake(name))
        refuse_taken(name, place)
        facts = {"name": name, "snake": snake(name), "module": place.module}
        for path, template in ((place.model, "model.py-tpl"), (place.test, "test.py-tpl")):
            if not path.parent.exists():
                path.parent.mkdir()
                (path.parent / "__init__.py").touch()
            text = (TEMPLATES / template).read_text()
            path.write_text(Template(text).substitute(facts))
            self.stdout.write(f"Written: {path}")
        self.stdout.write(
            f"Next:\n"
            f"  {place.todo}\n"
            f"  python manage.py makemigrations {place.app}\n"
            f"  python manage.py migrate\n"
            f"  python manage.py test {place.app}\n"
            f"The console has its pages by itself."
        )


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def refuse_bad(name: str) -> None:
    if not re.fullmatch(r"[A-Z][A-Za-z0-9]*", name) or iskeyword(name) or name == "Job":
        raise CommandError(f"{name}: not the name of a job. Write it like SendInvoice.")
    rest = max(len(index.name % {"class": ""}) for index in Job.Meta.indexes)
    if len(name) + rest > Index.max_name_length:
        most = Index.max_name_length - rest
        raise CommandError(f"{name}: too long to name its indexes. At most {most} letters.")


def place_of(name: str, app: str) -> Place:
    for found in apps.get_app_configs():
        if app in (found.name, found.label):
            return in_app(name, found)
    if not app.isidentifier() or iskeyword(app):
        raise CommandError(f"{app}: not the name of an app. Write it like invoices.")
    if find_spec(app):
        raise CommandError(
            f"{app}: there is a module of this name, but no such app in INSTALLED_APPS."
        )
    folder = Path.cwd() / app
    todo = f'add "{app}" to INSTALLED_APPS'
    return Place(app, folder / "models.py", folder / "tests.py", f"{app}.models", todo)


def in_app(name: str, app: AppConfig) -> Place:
    """A module of its own in an app that exists. A person has its models import it."""
    folder = Path(app.path)
    if not folder.is_relative_to(Path.cwd()):
        raise CommandError(f"{app.name} is not part of this project: it is in {folder}.")
    models, tests = folder / "models", folder / "tests"
    home, package, importer = folder, app.name, folder / "models.py"
    if models.is_dir():
        home, package, importer = models, f"{app.name}.models", models / "__init__.py"
    module = f"{package}.{snake(name)}"
    return Place(
        app.label,
        home / f"{snake(name)}.py",
        (tests if tests.is_dir() else folder) / f"test_{snake(name)}.py",
        module,
        f"in {importer}: from {module} import {name} as {name}",
    )


def refuse_taken(name: str, place: Place) -> None:
    for path in (place.model, place.test):
        if path.exists():
            raise CommandError(f"{path} exists already: nothing was written.")
    if place.app in apps.app_configs and name.lower() in apps.all_models[place.app]:
        raise CommandError(f"{place.app} has a model {name} already: nothing was written.")
