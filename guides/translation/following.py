"""Translations that follow by themselves when a guide was saved."""

from datetime import timedelta

from django.conf import settings
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from guides import languages
from guides.translation import asking
from jobs import queue
from jobs.models import Job
from jobs.run import Run

PATIENCE = timedelta(seconds=15)  # a person who saves ten times in a row asks once


class TranslateGuide(Job):
    """Asks for what a guide lacks in the other languages of the site."""

    plan_id = models.TextField(_("plan id"))

    is_housekeeping = True

    class Meta(Job.Meta):
        db_table = "translate_guides"
        verbose_name = _("translation of a guide")
        verbose_name_plural = _("translations of guides")

    def __str__(self) -> str:
        return self.plan_id

    def perform(self, run: Run) -> None:
        """Repeating this asks for nothing twice: the texts are under way then."""
        for code in languages.codes():
            asking.ask(self.plan_id, code)


def follow(plan_id: str) -> None:
    """Translate the guide soon, if this site does that; any number of calls until then is one."""
    if settings.TRANSLATE_GUIDES:
        job = TranslateGuide(plan_id=plan_id, unique_key=plan_id, run_after=Now() + PATIENCE)
        queue.enqueue([job], unique_while="queued")
