import signal
import subprocess
import sys

import pytest

# Stands in for manage.py: `runworker` drains on SIGTERM, `crash` ends at once.
MANAGE = """
import signal, sys, time

def drain(number, frame):
    print("told to stop", flush=True)
    time.sleep(0.5)
    print("drained", flush=True)
    sys.exit()

signal.signal(signal.SIGTERM, drain)
print("started", flush=True)
if "crash" in sys.argv:
    sys.exit(3)
time.sleep(30)
"""


@pytest.fixture
def supervise(checkout):
    (checkout / "manage.py").write_text(MANAGE)
    started = []

    def supervise(*commands):
        code = f"import sys; from config.dev import supervise; sys.exit(supervise({commands}))"
        supervisor = subprocess.Popen(
            [sys.executable, "-c", code], cwd=checkout, stdout=subprocess.PIPE, text=True
        )
        started.append(supervisor)
        assert [supervisor.stdout.readline() for _ in commands] == ["started\n"] * len(commands)
        return supervisor

    yield supervise
    for supervisor in started:
        supervisor.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_reaches_every_command_once_and_all_may_drain(supervise, number):
    supervisor = supervise(["runserver"], ["runworker"])

    supervisor.send_signal(number)
    output, _ = supervisor.communicate(timeout=20)

    assert output.count("told to stop") == output.count("drained") == 2
    assert supervisor.returncode == 0


def test_when_one_command_ends_the_others_end_too(supervise):
    supervisor = supervise(["runserver"], ["crash"])

    output, _ = supervisor.communicate(timeout=20)

    assert output.count("drained") == 1
    assert supervisor.returncode == 1


def test_a_second_signal_is_passed_on(supervise):
    supervisor = supervise(["runworker"])
    supervisor.send_signal(signal.SIGTERM)
    assert supervisor.stdout.readline() == "told to stop\n"

    supervisor.send_signal(signal.SIGTERM)
    output, _ = supervisor.communicate(timeout=20)

    assert "told to stop" in output
