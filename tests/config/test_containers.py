"""The files for containers: what can be checked of them without a container engine."""

import re
import subprocess
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
import yaml
from django.core.management import load_command_class
from django.core.management.base import CommandError

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text())
KUBERNETES = {
    (part["kind"], part["metadata"]["name"]): part
    for file in sorted((ROOT / "docs" / "kubernetes").glob("*.yaml"))
    for part in yaml.safe_load_all(file.read_text())
}
OURS = {name: each for name, each in COMPOSE["services"].items() if each["image"] == "tabie"}
COMMANDS = {"migrate": "django.core", "runworker": "jobs"}


def containers():
    """The containers that Kubernetes would start, by name."""
    for part in KUBERNETES.values():
        if "template" in part.get("spec", {}):
            for container in part["spec"]["template"]["spec"]["containers"]:
                yield container["name"], container


def commands():
    for name, service in OURS.items():
        if "command" in service:
            yield f"compose: {name}", service["command"]
    for name, container in containers():
        yield f"kubernetes: {name}", container["args"]
    yield "Dockerfile", re.findall(r'"([^"]+)"', DOCKERFILE.rpartition("\nCMD ")[2])


def variables():
    for service in OURS.values():
        yield from service["environment"]
    yield from KUBERNETES["ConfigMap", "tabie"]["data"]
    yield from KUBERNETES["Secret", "tabie"]["stringData"]
    yield from re.findall(r"\b([A-Z][A-Z_]+)=", DOCKERFILE.partition("RUN SECRET_KEY")[2])


def test_there_are_the_services_that_the_page_names():
    page = (ROOT / "docs" / "containers.md").read_text()

    assert {name for name in COMPOSE["services"] if f"`{name}`" not in page} == set()
    assert {name for name, _ in containers()} == {"migrate", "web", "worker"}
    assert COMPOSE["services"]["worker"]["deploy"]["replicas"] == 2


@pytest.mark.parametrize("name", sorted(set(variables())))
def test_every_variable_is_a_setting(name):
    assert f"`{name}`" in (ROOT / "docs" / "settings.md").read_text()


@pytest.mark.parametrize(("where", "command"), list(commands()))
def test_every_command_exists_with_its_options(where, command):
    match command:
        case ["python", "manage.py", name, *options]:
            parser = load_command_class(COMMANDS[name], name).create_parser("manage.py", name)
            parser.called_from_command_line = False  # raise instead of ending the process
            try:
                parser.parse_args(options)
            except CommandError as error:
                pytest.fail(f"{where}: {error}")
        case ["python", "-c", code]:
            compile(code, where, "exec")
        case [program, *_]:
            assert program == "gunicorn"


def test_every_file_that_the_image_copies_exists():
    copied = re.findall(r"^COPY (\S+) \S+$", DOCKERFILE, re.MULTILINE)
    lists = re.findall(r"requirements[\w-]*\.txt", DOCKERFILE)

    assert copied == ["requirements*.txt", "."]
    assert not [name for name in lists if not (ROOT / name).exists()]


def test_nothing_runs_as_root():
    assert re.findall(r"^USER (.+)$", DOCKERFILE, re.MULTILINE) == ["10001"]
    for service in OURS.values():
        assert service["cap_drop"] == ["ALL"]
        assert service["read_only"]
    for _, container in containers():
        assert container["securityContext"]["readOnlyRootFilesystem"]
    for part in KUBERNETES.values():
        if "template" in part.get("spec", {}):
            assert part["spec"]["template"]["spec"]["securityContext"] == {"runAsNonRoot": True}


def test_a_stopping_worker_has_the_time_that_paid_calls_need():
    worker = KUBERNETES["Deployment", "tabie-worker"]["spec"]["template"]["spec"]
    page = (ROOT / "docs" / "servers.md").read_text()
    [seconds] = re.findall(r"^TimeoutStopSec=(\d+)$", page, re.MULTILINE)

    assert COMPOSE["services"]["worker"]["stop_grace_period"] == f"{seconds}s"
    assert worker["terminationGracePeriodSeconds"] == int(seconds)


# .dockerignore


def is_left_out(path):
    """Whether a pattern of .dockerignore matches the path or a folder that it is in."""
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    patterns = [line for line in lines if line and not line.startswith("#")]
    steps = [Path(path), *Path(path).parents][:-1]
    return any(matches(pattern, str(step)) for pattern in patterns for step in steps)


def matches(pattern, path):
    if pattern.startswith("**/"):
        return fnmatchcase(Path(path).name, pattern.removeprefix("**/"))
    return "/" not in path and fnmatchcase(path, pattern)


@pytest.mark.parametrize(
    "path",
    [
        ".env",
        ".env.production",
        ".git/config",
        ".postgres/18/base/1",
        ".postgres-test/18/base/1",
        ".test.sqlite3-wal",
        "data/site.sqlite3",
        "media/pictures/1.webp",
        "answers/calls/1",
        ".venv/bin/python",
        ".bench/server/18/base/1",
        "jobs/queue/__pycache__/claims.cpython-313.pyc",
        "tests/conftest.py",
    ],
)
def test_no_secret_and_no_data_gets_into_the_image(path):
    assert is_left_out(path)


def test_what_git_ignores_is_not_in_the_image():
    for pattern in (ROOT / ".gitignore").read_text().split():
        example = pattern.strip("/").replace("*", "x")
        assert is_left_out(example), pattern


def test_what_a_server_needs_is_in_the_image():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True).stdout
    needed = re.compile(r"(config|guides|jobs|templates|locale)/|manage.py|gunicorn|requirements")

    files = [path for path in listed.splitlines() if needed.match(path)]
    assert len(files) > 100
    assert [path for path in files if is_left_out(path)] == []
