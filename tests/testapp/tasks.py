"""Tasks for the tests, as any application could declare them."""

import asyncio
from datetime import timedelta

from jobs.errors import ProviderUnavailable
from jobs.tasks import task
from tests.testapp.models import wait_at_gate

chosen: list[tuple[type, int, int]] = []  # what backoffs were asked


def in_a_minute(exception, task_result):
    chosen.append((type(exception), len(task_result.errors), task_result.attempts))
    return 60


def never_again(exception, task_result):
    return None


def in_an_hour(exception, task_result):
    return timedelta(hours=1)


def broken_backoff(exception, task_result):
    raise RuntimeError("no idea")


@task
def add(left, right=0):
    return left + right


@task
async def add_slowly(left, right=0):
    await asyncio.sleep(0)
    return left + right


@task(takes_context=True)
def look_around(context):
    result = context.task_result
    return {"id": result.id, "attempt": context.attempt, "status": result.status}


@task
def give(what):
    return {"nan": float("nan"), "nul": ["a\x00b"], "half": "\ud800", "function": give.func}[what]


@task
def fail(text="It did not work."):
    raise ValueError(text)


@task
def leave():
    raise SystemExit(3)


@task(max_attempts=3)
def fail_thrice():
    raise ValueError("not yet")


@task(max_attempts=3, backoff=in_a_minute)
def fail_patiently():
    raise ValueError("not yet")


@task(max_attempts=3, backoff=in_an_hour)
def fail_slowly():
    raise ValueError("not yet")


@task(max_attempts=3, backoff=never_again)
def fail_at_once():
    raise ValueError("never")


@task(max_attempts=3, backoff=broken_backoff)
def fail_somehow():
    raise ValueError("somehow")


@task(timeout=timedelta(seconds=7))
def hurry():
    pass


@task(unique=True)
def index(name):
    pass


@task(unique="queued")
def refresh(name):
    pass


@task(provider="shop:api")
def ask_shop():
    pass


@task(provider="shop:api")
def meet_closed_shop():
    raise ProviderUnavailable(retry_after=30, reason="closed")


@task(schedule="0 6 * * *")
def tidy(room="hall"):
    return room


@task
def wait(value):
    wait_at_gate(0)
    return value
