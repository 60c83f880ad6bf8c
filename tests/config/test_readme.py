import re
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"
SETTINGS = """
from config.settings import *

INSTALLED_APPS = [*INSTALLED_APPS, "postcards"]
"""
ADMIN = """
from django.contrib import admin
from jobs.admin import JobAdmin
from postcards.models import Postcard

admin.site.register(Postcard, JobAdmin)
"""
PRINT = """
print(list(Postcard.objects.order_by("address").values_list("status", "text")))
"""


def test_the_job_in_the_readme_runs_as_it_is_printed(python, checkout):
    model, enqueue = re.findall(r"```python\n(.+?)```", README.read_text(), re.DOTALL)
    environment = {
        "DEBUG": "true",
        "DATABASE_URL": f"sqlite:///{checkout}/readme.sqlite3",
        "DJANGO_SETTINGS_MODULE": "postcards.settings",
    }
    (checkout / "postcards").mkdir()
    for name, text in {"models": model, "admin": ADMIN, "settings": SETTINGS}.items():
        (checkout / "postcards" / f"{name}.py").write_text(text)

    def manage(*arguments):
        done = python("manage.py", *arguments, **environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    manage("makemigrations", "postcards")
    manage("migrate", "--verbosity", "0")
    manage("shell", "--verbosity", "0", "--command", enqueue)
    manage("runworker", "--drain")
    printed = manage("shell", "--verbosity", "0", "--command", enqueue + PRINT)

    assert printed == (
        "[('succeeded', 'Greetings to Anna!'), ('succeeded', 'Greetings to Ben!')]\n"
    )
