"""A request to a language model, whatever it asks for."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import models
from django.utils.translation import gettext_lazy as _

from jobs import settings
from jobs.llm import writing
from jobs.models import Job, Status
from jobs.run import Run


class State(models.TextChoices):
    """The status of a request, in four words."""

    PENDING = "PENDING", _("pending")
    IN_PROGRESS = "IN_PROGRESS", _("in progress")
    COMPLETED = "COMPLETED", _("completed")
    FAILED = "FAILED", _("failed")


class LLMJob(Job):
    """Sends one request and keeps its answer, until the consumer of its process takes it."""

    position = models.IntegerField(_("position"), default=0, db_default=0)  # in its process
    request_json = models.JSONField(_("request"))
    response_json = models.JSONField(_("response"), null=True, blank=True)
    batch_job_id = models.TextField(  # noqa: DJ001 (NULL: it is in no batch)
        _("batch at the provider"), null=True, blank=True
    )

    timeout = timedelta(minutes=2)
    steps = {"wait": _("wait for a token"), "generate": _("generate"), "store": _("store")}
    causes = {"CutOff": _("answer cut off")}

    class Meta(Job.Meta):
        db_table = "llm_jobs"
        verbose_name = _("LLM request")
        verbose_name_plural = _("LLM requests")

    @property
    def state(self) -> State:
        """Where the request is; in a running batch it is in progress, although no worker has it."""
        match self.status:
            case Status.SUCCEEDED:
                return State.COMPLETED
            case Status.FAILED | Status.CANCELED:
                return State.FAILED
            case Status.PROCESSING:
                return State.IN_PROGRESS
            case _:
                return State.IN_PROGRESS if self.batch_job_id else State.PENDING

    @property
    def error_message(self) -> str | None:
        return self.last_error

    @classmethod
    def provider_name(cls) -> str | None:
        return writing.provider_name()

    @classmethod
    def provider_is_free(cls) -> bool:
        return writing.is_free()

    @classmethod
    def provider_defaults(cls) -> dict[str, Any]:
        """A long text takes minutes."""
        return {"strategy": settings.LLM_BULK_STRATEGY, "timeout": 120}

    @classmethod
    def check_setup(cls) -> None:
        writing.check_setup()

    @classmethod
    def note_batch(cls, ids: Iterable[UUID], remote_id: str) -> None:
        cls.objects.with_ids(ids).update(batch_job_id=remote_id or None)  # type: ignore[misc]

    def perform(self, run: Run) -> dict[str, Any]:
        return writing.answer(self.request_json, run)

    def on_requeue(self) -> None:
        self.note_batch([self.pk], "")

    def on_success(self, response: dict[str, Any]) -> None:
        mine = type(self).objects.filter(pk=self.pk)
        mine.update(response_json=response)  # type: ignore[misc]
