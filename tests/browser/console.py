"""A site after a busy night, for the browser tests of the console and its screenshots."""

import random
from datetime import timedelta
from decimal import Decimal

from django.conf import settings
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.db.models import F
from django.db.models.functions import Now
from django.test import Client
from django.utils import timezone

from guides import demo
from guides.models import SpotDetail, SpotImageJob
from jobs import queue
from jobs.errors import AnswerLost, LeaseLost, PermanentError
from jobs.models import Attempt, Call, Outcome, Provider, State, Worker, job_models, uuid7
from jobs.paid import limits, pausing
from jobs.queue.outcomes import End, from_error
from tests.guides.painting import claim, paint_alike

GEMINI = "gemini:gemini-3.1-flash-image"


def log_in(page, group=None):
    """Log this browser in as a member of the group, or as a superuser."""
    if group:
        user = User.objects.create_user(group, is_staff=True)
        user.groups.add(Group.objects.get(name=group))
    else:
        user = User.objects.filter(username="mika").first() or User.objects.create_superuser("mika")
    client = Client()
    client.force_login(user)
    cookie = {"name": settings.SESSION_COOKIE_NAME, "value": client.cookies["sessionid"].value}
    page.context.add_cookies([{**cookie, "url": page.url}])
    return page


def hide_test_models(monkeypatch):
    """Take the job models of the tests out of the console."""
    for model in job_models():
        if model._meta.app_label == "testapp":
            monkeypatch.delitem(admin.site._registry, model)


def new_worker(name="atlas:4711:3fa9c1d2", **columns):
    alive = {"lease_expires_at": Now() + timedelta(hours=1), "version": "0.1"}
    return Worker.objects.create(**{"name": name, "slots": 8, **alive, **columns})


def busy_night(paint=paint_alike):
    """Pictures, failures of three kinds, an unknown call, a paused provider, a day of history."""
    demo.load()
    names = list(SpotDetail.objects.order_by("id").values_list("spot_name", flat=True))
    fail(names[0:2], RefusedByPolicy("The provider refused to draw it: its policy forbids it."))
    fail(names[2:5], TooManyRequests("429 from gemini: quota of the minute is used up."))
    fail(names[5:6], AnswerLost(reason="The connection was reset before the answer came."))
    paint(*names[6:-6])
    give_back(names[-6:])
    for number, name in enumerate(("atlas:4711:3fa9c1d2", "boreas:812:77c0de01")):
        new_worker(name, running=3 - number, draining=bool(number))
    provider_rows()
    history()


def give_back(names):
    """Release the jobs of these spots; the last one waits for 4 minutes."""
    error = LeaseLost("The worker is stopping.")
    queue.settle([End(job, Outcome.RELEASED, error=error) for job in claim(names)])
    SpotImageJob.objects.filter(spot_name__in=names[-1:], status="queued").update(
        run_after=Now() + timedelta(minutes=4)
    )


class RefusedByPolicy(PermanentError):
    kind = "refused"


class TooManyRequests(PermanentError):
    kind = "429 from gemini"


def fail(names, error):
    ends = [from_error(job, error) for job in claim(names)]
    for end in ends:
        end.final, end.outcome = True, Outcome.FAILED
        end.steps = {"prompt": 2, "generate": 18_700, "check": 40}
    queue.settle(ends)
    Attempt.objects.filter(outcome=Outcome.FAILED).update(
        started_at=F("ended_at") - timedelta(seconds=18.8)
    )


def provider_rows():
    limits.find("painter")
    limits.find(GEMINI)
    Provider.objects.filter(name=GEMINI).update(
        price=Decimal("0.04"),
        daily_budget=25,
        spent=Decimal("18.36"),
        spent_on=timezone.localdate(),
        faults=2,
    )
    pausing.pause(GEMINI, "429: quota exceeded", timezone.now() + timedelta(minutes=12))
    job = SpotImageJob.objects.order_by("id").first()
    Call.objects.create(
        provider=GEMINI,
        job_id=job.id,
        kind="guides.SpotImageJob",
        epoch=1,
        worker="atlas:4711:3fa9c1d2",
        key="a" * 64,
        number=1,
        payload_hash="b" * 64,
        answer_name="calls/a/1",
        state=State.UNKNOWN,
        error="The connection was reset before the answer came.",
        cost=Decimal("0.04"),
        deadline=Now(),
        started_at=Now() - timedelta(seconds=19),
        finished_at=Now(),
    )


def history(number=900):
    """A day of attempts, more at daytime, with the durations that the user measured."""
    chance = random.Random(7)
    now = timezone.now()
    rows = []
    for _ in range(number):
        ago = timedelta(hours=24 * chance.random() ** 1.6)
        generate = chance.gauss(19_371, 2_400)
        store = chance.gauss(1_762, 250)
        failed = chance.random() < 0.06
        rows.append(
            Attempt(
                job_id=uuid7(),
                kind="guides.SpotImageJob",
                epoch=1,
                worker="atlas:4711:3fa9c1d2",
                started_at=now - ago - timedelta(milliseconds=generate + store + 290),
                ended_at=now - ago,
                outcome=Outcome.FAILED if failed else Outcome.SUCCEEDED,
                steps={
                    "prompt": 2,
                    "generate": int(generate),
                    "check": 281,
                    "store": int(store),
                },
            )
        )
    Attempt.objects.bulk_create(rows)
