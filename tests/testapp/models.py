"""Job models for the tests, as any application could define them."""

import hashlib
import os
import sys
import threading
import time
from datetime import timedelta
from zoneinfo import ZoneInfo

from django.db import connection, models

from jobs.errors import Cancel, PermanentError, ProviderUnavailable, Snooze
from jobs.models import Job
from jobs.paid import calls
from jobs.paid.clients import Answer
from jobs.schedules import Weekly
from tests.testapp import keeping, summaries, terms  # noqa: F401 (three that ask language models)


def wait_at_gate(seconds):
    """Sleep; then, in a worker process with a gate, wait until the test opens it."""
    time.sleep(seconds)
    while (gate := os.environ.get("GATE")) and not os.path.exists(gate):
        time.sleep(0.02)


class NoopJob(Job):
    """Does nothing, as fast as it can."""

    class Meta(Job.Meta):
        db_table = "noop_jobs"

    def perform(self, run):
        pass


class Effect(models.Model):
    """The visible effect of a job: one row per success."""

    job_id = models.UUIDField()
    result = models.TextField()

    class Meta:
        db_table = "effects"


class Chore(Job):
    """Does what its `script` says; leaves one Effect when it succeeds."""

    name = models.TextField()
    script = models.TextField(db_default="")
    seconds = models.FloatField(db_default=0)

    timeout = timedelta(minutes=5)
    backoff_base = timedelta(milliseconds=100)

    class Meta(Job.Meta):
        db_table = "chores"
        constraints = [
            *Job.Meta.constraints,
            models.UniqueConstraint(fields=["name"], name="one_chore_per_name"),
        ]

    def perform(self, run):
        return getattr(self, f"do_{self.script}", self.do_)(run)

    def do_(self, run):
        wait_at_gate(self.seconds)
        return self.name

    def do_fail(self, run):
        raise ValueError(f"could not do {self.name}")

    def do_fail_for_good(self, run):
        raise PermanentError(f"will never do {self.name}")

    def do_snooze(self, run):
        raise Snooze(60)

    def do_cancel(self, run):
        raise Cancel("not needed")

    def do_wait_for_provider(self, run):
        raise ProviderUnavailable(retry_after=30)

    def do_hang(self, run):
        threading.Event().wait()

    def do_exit(self, run):
        sys.exit(3)

    def do_interrupt(self, run):
        raise KeyboardInterrupt

    def do_die(self, run):
        os._exit(9)

    def do_query_then_wait(self, run):
        run.progress(0, 1, "begun")
        Effect.objects.filter(job_id=self.id).exists()
        with run.step("wait"):
            wait_at_gate(self.seconds)
        return self.name

    def do_sign(self, run):
        run.progress(0, 1, "begun")
        wait_at_gate(self.seconds)
        return os.getpid()

    def do_meet_standby(self, run):
        """At the first claim, find a server that has become a standby."""
        if self.epoch == 1:
            with connection.cursor() as cursor:
                cursor.execute("SET default_transaction_read_only = on")
        Effect.objects.filter(job_id=self.id).delete()

    def do_stop_when_told(self, run):
        run.progress(0, 1, "begun")
        while not run.should_stop:
            time.sleep(0.05)
        run.check()

    def on_success(self, result):
        Effect.objects.create(job_id=self.id, result=str(result))

    def on_failure(self, error):
        HookCall.objects.create(job_id=self.id, hook="on_failure")


class WeeklyReport(Job):
    """Reports on the week before the Monday on which it runs."""

    week = models.DateField(unique=True)  # its first day
    note = models.TextField(db_default="")

    schedule = Weekly("monday", "06:00", time_zone="Asia/Tokyo", arguments={"note": "by itself"})

    class Meta(Job.Meta):
        db_table = "weekly_reports"

    @classmethod
    def for_schedule(cls, scheduled_for, note):
        today = scheduled_for.astimezone(ZoneInfo("Asia/Tokyo")).date()
        return cls(week=today - timedelta(days=today.weekday() + 7), note=note)

    def perform(self, run):
        return f"{self.week}: {self.note}"

    def on_success(self, result):
        Effect.objects.create(job_id=self.id, result=result)


class Order(Job):
    """Buys one answer from a shop, which keeps its own ledger in the file LEDGER."""

    name = models.TextField(unique=True)
    seconds = models.FloatField(db_default=0)
    strategy = models.TextField(db_default="", default="")

    provider = "shop:model"
    backoff_base = timedelta(milliseconds=100)

    class Meta(Job.Meta):
        db_table = "orders"

    @classmethod
    def provider_name(cls):
        return cls.provider

    def perform(self, run):
        payload_hash = hashlib.sha256(self.name.encode()).hexdigest()
        request = {"form": "text", "prompt": self.name}
        bought = calls.buy(run, payload_hash, self.send, request=request, strategy=self.strategy)
        return bought.raw

    def send(self, timeout):
        if ledger := os.environ.get("LEDGER"):
            with open(ledger, "a") as books:
                books.write(f"{self.name}\n")
        wait_at_gate(self.seconds)
        return Answer(raw=self.name.encode())


class Hooked(Job):
    """Notes every hook that runs, and raises in the hooks that `raises_in` names."""

    name = models.TextField(unique=True)
    fails = models.BooleanField(db_default=False)
    raises_in = models.TextField(db_default="")
    colour = models.TextField(default="red")  # a default that the database does not know
    noticed_at = models.DateTimeField(auto_now_add=True)

    max_attempts = models.IntegerField(default=2, db_default=2)

    class Meta(Job.Meta):
        db_table = "hooked_jobs"

    def perform(self, run):
        if self.fails:
            raise ValueError("told to fail")
        return "done"

    def note(self, hook):
        HookCall.objects.create(job_id=self.id, hook=hook)
        if hook in self.raises_in.split():
            raise RuntimeError(f"{hook} was told to raise")

    def on_start(self):
        self.note("on_start")

    def on_success(self, result):
        self.note("on_success")

    def on_failure(self, error):
        self.note("on_failure")

    def on_requeue(self):
        self.note("on_requeue")

    def on_cancel(self):
        self.note("on_cancel")


class HookCall(models.Model):
    job_id = models.UUIDField()
    hook = models.TextField()

    class Meta:
        db_table = "hook_calls"


class Shelf(models.Model):
    """A row that hooks write to, and that other sessions may have locked."""

    name = models.TextField(unique=True)
    pots = models.IntegerField(default=0)

    class Meta:
        db_table = "shelves"


class Pot(models.Model):
    """Stands on a shelf: its foreign key is deferred, so only COMMIT checks it."""

    shelf = models.ForeignKey(Shelf, on_delete=models.CASCADE)

    class Meta:
        db_table = "pots"


class Potter(Job):
    """Writes to its shelf in every hook; in the hook `breaks` it adds a pot without a shelf."""

    shelf = models.TextField(unique=True)
    breaks = models.TextField(db_default="")

    backoff_base = timedelta(0)

    class Meta(Job.Meta):
        db_table = "potters"

    def perform(self, run):
        return "a pot"

    def touch(self, hook):
        Shelf.objects.filter(name=self.shelf).update(pots=models.F("pots") + 1)
        if hook in self.breaks.split():
            Pot.objects.create(shelf_id=-1)

    def on_start(self):
        self.touch("on_start")

    def on_success(self, result):
        self.touch("on_success")

    def on_failure(self, error):
        self.touch("on_failure")

    def on_requeue(self):
        self.touch("on_requeue")

    def on_cancel(self):
        self.touch("on_cancel")


class Digest(Job):
    """Sums a week up, once per topic; no column of its own is unique."""

    topic = models.TextField(db_default="")

    class Meta(Job.Meta):
        db_table = "digests"

    def perform(self, run):
        return self.topic
