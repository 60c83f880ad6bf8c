"""The chain of requests that work one after the other, where no worker may stay."""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now


class Chain(models.Model):
    """One row: however many requests begin a chain, the site has one.

    Only the request that holds the token may hand the chain on. A chain whose request died ends
    when its time runs out.
    """

    ONLY = 1

    id = models.SmallIntegerField(primary_key=True, default=ONLY)
    token = models.TextField(db_default="", blank=True)
    expires_at = models.DateTimeField(db_default=Now())
    idle = models.IntegerField(db_default=0)  # requests in a row that ended no job

    class Meta:
        db_table = "job_chain"
        constraints: ClassVar = [
            models.CheckConstraint(name="one_chain", condition=Q(id=1)),
        ]

    def __str__(self) -> str:
        return self.token
