"""The number of queries does not grow with the number of requests."""

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext

from jobs import llm
from jobs.llm.models import LLMJob

pytestmark = pytest.mark.django_db(transaction=True)


def queries(act):
    with CaptureQueriesContext(connection) as seen:
        result = act()
    return len(seen), result


def end_all():
    LLMJob.objects.update(status="succeeded", finished_at=Now(), response_json={"text": "Hi"})


def take(process_id):
    with llm.consume(process_id) as answers:
        return len(answers)


def figures(number):
    prompts = [{"prompt": f"Spot {n}", "system": "Write."} for n in range(number)]
    submitting, process = queries(lambda: llm.submit(prompts, label="Many"))
    looking, _ = queries(lambda: llm.progress(process.id))
    end_all()
    listing, _ = queries(lambda: llm.results(process.id))
    consuming, taken = queries(lambda: take(process.id))
    assert taken == number
    return {"submit": submitting, "progress": looking, "results": listing, "consume": consuming}


def test_ten_times_as_many_requests_need_no_more_queries():
    few, many = figures(50), figures(500)

    if connection.vendor == "sqlite":  # its limit of parameters splits the INSERT
        assert many.pop("submit") <= few.pop("submit") + 500 // 200
    assert many == few
    assert (many["progress"], many["results"]) == (1, 1)


def test_canceling_needs_one_transaction_for_many():
    few = llm.submit([{"prompt": "x"}] * 50, label="Few")
    many = llm.submit([{"prompt": "x"}] * 450, label="Many")

    of_few, _ = queries(lambda: llm.cancel(few.id))
    of_many, canceled = queries(lambda: llm.cancel(many.id))

    assert canceled == 450
    assert of_many == of_few
