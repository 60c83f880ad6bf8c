"""Guides with tags, and workers that refresh their topics."""

import json
import time

from guides import services
from guides.models import Guide, SpotDetail
from guides.topics.models import KeepTopic, RefreshTopic, TopicSummary
from jobs import queue
from jobs.events.models import EventJob
from jobs.llm.models import LLMJob
from jobs.run import Pulse, Run
from jobs.worker import crew
from tests.jobs.conftest import LEASE

ENGLISH = "Quiet roofs and the smell of cedar."
JAPANESE = "静かな屋根と、杉の香り。"


def save(plan_id, *tags, **facts):
    """Save a guide with one spot for each of these lists of tags."""
    guide = Guide(plan_id=plan_id, **{"title": plan_id.title(), "destination": "Japan"} | facts)
    names = [f"{plan_id.title()} {number}" for number in range(len(tags))]
    spots = [SpotDetail(spot_name=n, topic_tags=t) for n, t in zip(names, tags, strict=True)]
    return services.save_guide(guide, spots)


def touch(plan_id, description):
    """Change a guide's first spot, and say so."""
    spot = SpotDetail.objects.filter(guide=plan_id).first()
    SpotDetail.objects.filter(pk=spot.pk).update(description=description)
    services.note_saved(Guide.objects.get(pk=plan_id), "updated")


def work(*models):
    """Perform and settle the due jobs of these models, one model after the other."""
    for model in models or (EventJob, RefreshTopic, LLMJob, KeepTopic):
        while jobs := queue.claim(model, 50, "fast", LEASE):
            ends = [crew.perform(Run(job, Pulse(60), time.monotonic()), "fast") for job in jobs]
            assert queue.settle(ends) == []


def cool_down():
    """Let six hours pass for all topics."""
    TopicSummary.objects.exclude(asked_at=None).update(asked_at="2026-01-01T00:00Z")
    RefreshTopic.objects.filter(status="queued").update(run_after="2026-01-01T00:00Z")


def texts(topic="temple"):
    rows = TopicSummary.objects.filter(tag=topic).order_by("language")
    return dict(rows.values_list("language", "text"))


def said(summary):
    return json.dumps({"summary": summary}, ensure_ascii=False)
