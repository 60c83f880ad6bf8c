"""`manage.py startjob`. That what it writes works is tested in tests/config/test_package.py."""

import subprocess
import sys
from pathlib import Path

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command

RUFF = Path(sys.executable).with_name("ruff")
# As in a project that has installed the package.
ISOLATED = ["--isolated", "--config", 'lint.isort.known-third-party = ["jobs"]']


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def startjob(*arguments):
    call_command("startjob", *arguments, stdout=sys.stdout)


def files(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_it_makes_an_app_with_a_job_and_its_test(folder, capsys):
    startjob("SendHTTPInvoice", "invoices")

    assert files(folder) == {f"invoices/{name}.py" for name in ("__init__", "models", "tests")}
    assert "class SendHTTPInvoice(Job):" in (folder / "invoices" / "models.py").read_text()
    assert 'name="one_send_http_invoice_per_subject"' in (folder / "invoices/models.py").read_text()
    assert 'add "invoices" to INSTALLED_APPS' in capsys.readouterr().out


def test_without_an_app_the_job_gets_one_of_its_name(folder):
    startjob("SendInvoice")

    assert "send_invoice/models.py" in files(folder)


def test_what_it_writes_is_tidy(folder):
    startjob("SendInvoice", "invoices")

    for how in (["check", "--select", "E,F,I,UP,W"], ["format", "--check"]):
        told = subprocess.run([RUFF, *how, *ISOLATED, "."], capture_output=True, text=True)
        assert told.returncode == 0, told.stdout


@pytest.mark.parametrize("is_package", [False, True])
def test_in_an_app_that_exists_it_adds_files_and_says_who_must_import_them(
    folder, monkeypatch, capsys, is_package
):
    monkeypatch.setattr(apps.get_app_config("testapp"), "path", str(folder))
    if is_package:
        (folder / "models").mkdir()

    startjob("SendInvoice", "testapp")

    home = "models/" if is_package else ""
    module = f"tests.testapp.{'models.' if is_package else ''}send_invoice"
    assert files(folder) == {f"{home}send_invoice.py", "test_send_invoice.py"}
    assert f"from {module} import SendInvoice as SendInvoice" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["send_invoice"], "Write it like SendInvoice"),
        (["None"], "Write it like SendInvoice"),
        (["Job"], "Write it like SendInvoice"),
        (["../Up"], "Write it like SendInvoice"),
        (["A" * 22], "At most 21 letters"),
        (["SendInvoice", "in-voices"], "Write it like invoices"),
        (["SendInvoice", "../up"], "Write it like invoices"),
        (["SendInvoice", "class"], "Write it like invoices"),
        (["SendInvoice", "json"], "there is a module of this name"),
        (["SendInvoice", "django.contrib.auth"], "not part of this project"),
        (["SendInvoice", "auth"], "not part of this project"),
    ],
)
def test_it_refuses_what_can_not_be_a_job(folder, arguments, reason):
    with pytest.raises(CommandError, match=reason):
        startjob(*arguments)

    assert files(folder) == set()


def test_it_overwrites_nothing(folder, monkeypatch):
    monkeypatch.setattr(apps.get_app_config("testapp"), "path", str(folder))
    (folder / "test_send_invoice.py").write_text("mine")

    with pytest.raises(CommandError, match="exists already"):
        startjob("SendInvoice", "testapp")
    with pytest.raises(CommandError, match="has a model Chore already"):
        startjob("Chore", "testapp")

    assert files(folder) == {"test_send_invoice.py"}
    assert (folder / "test_send_invoice.py").read_text() == "mine"
