"""Two guides at once, and workers killed at each step: nothing is asked for twice."""

import threading

import pytest
from django.db import connection

from guides.derived.models import Commission, Version
from guides.topics import asking
from guides.topics.models import KeepTopic, RefreshTopic, TopicSummary
from jobs.events.models import EventJob
from jobs.llm.models import LLMJob
from jobs.models import Call, Event
from tests.guides.topics.making import save, texts, work
from tests.jobs import processes
from tests.jobs.processes import wait_until

start = processes.start


def at_once(*acts):
    """Let these acts begin together, each in a session of its own."""
    barrier = threading.Barrier(len(acts))
    faults = []

    def run(act):
        try:
            barrier.wait(60)
            act()
        except Exception as fault:
            faults.append(fault)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=[act]) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return faults


@pytest.mark.postgres
def test_two_guides_saved_at_once_refresh_their_topic_once(teller):
    acts = [lambda plan_id=plan_id: save(plan_id, ["temple"]) for plan_id in ("kyoto", "nara")]
    assert at_once(*acts) == []
    assert at_once(*[lambda: work(EventJob)] * 4) == []

    work()

    assert RefreshTopic.objects.count() == 1
    assert sorted(teller.asked) == [("temple", "en"), ("temple", "ja")]
    assert TopicSummary.objects.get(language="en").plan_ids in (
        ["kyoto", "nara"],
        ["nara", "kyoto"],
    )


@pytest.mark.postgres
def test_two_refreshes_of_a_topic_at_once_ask_once(teller):
    save("kyoto", ["temple"])

    assert at_once(*[lambda: asking.refresh("temple")] * 4) == []

    assert Commission.objects.count() == 1
    assert LLMJob.objects.count() == 2


# A worker dies when it has done this, and before the end of the job is written.
DYING = """
import django; django.setup()
import os
from jobs import queue
real = queue.settle
def fatal(ends, *arguments, **options):
    if any(type(end.job).__name__ == "{kind}" for end in ends):
        os.kill(os.getpid(), 9)
    return real(ends, *arguments, **options)
queue.settle = fatal
"""


def is_done():
    kept = Commission.objects.exclude(kept_at=None).exists()
    is_idle = not RefreshTopic.objects.living().exists() and not KeepTopic.objects.living().exists()
    return kept and is_idle and not Event.objects.unprocessed().exists()


@pytest.mark.long
@pytest.mark.parametrize("kind", ["EventJob", "RefreshTopic", "LLMJob", "KeepTopic"])
def test_a_worker_killed_before_it_settles_asks_for_nothing_twice(start, settings, pictures, kind):
    save("kyoto", ["temple"])
    models = {each.__name__: each for each in (EventJob, RefreshTopic, LLMJob, KeepTopic)}
    kinds = [each._meta.label for each in models.values()]
    victim = start("--jobs", *kinds, slots=1, before=DYING.format(kind=kind))
    assert victim.exit_code() == -9
    victim.expire(models[kind])

    start("--jobs", *kinds)
    wait_until(is_done)

    assert Commission.objects.count() == 1
    assert Call.objects.count() == 2
    assert Version.objects.count() == 2
    assert all(texts().values())
    assert not LLMJob.objects.exists()
