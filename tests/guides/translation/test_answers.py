"""What a model answers is never trusted; a failed text does not fail the rest."""

import os
import random

import pytest

from guides.translation import asking
from guides.translation.checking import Fault, checked
from guides.translation.models import GuideTranslation, KeepTranslations, State
from jobs import queue
from jobs.errors import PermanentError
from jobs.llm.models import LLMJob
from jobs.models import Outcome, Status
from jobs.queue import outcomes
from jobs.queue.outcomes import End
from tests.guides.odd import ODD
from tests.guides.translation.translating import (
    TEXTS,
    answer,
    rows,
    save_kyoto,
    texts,
    translate,
    work,
)
from tests.jobs.conftest import LEASE

pytestmark = pytest.mark.django_db(transaction=True)

FUZZED = int(os.environ.get("FUZZ_REQUESTS", "80"))


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("said", "fault"),
    [
        ("Gate", Fault.LANGUAGE),
        ("", Fault.EMPTY),
        ("\u200b\u2800", Fault.EMPTY),
        ("<script>門</script>", Fault.EMPTY),
        ("門" * 100_000, Fault.TOO_LONG),
        ("これは門という意味の名前です。" * 5, Fault.TOO_LONG),
    ],
)  # fmt: skip
def test_an_answer_that_can_not_be_shown_fails_its_text_alone(translator, said, fault):
    save_kyoto()
    translator.answers = {"Gate": said}

    translate()

    failed = rows()["Gate name"]
    assert (failed.text, failed.state, failed.fault) == ("", State.FAILED, fault)
    assert sum(map(bool, texts().values())) == TEXTS - 1


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("<b>門</b>", "門"),
        ("門\n\n[公式](https://example.org/x)", "門 公式"),
        ("&lt;i&gt;門&lt;/i&gt;", "門"),
        ("\u202e門", "門"),
        (" 門 \n", "門"),
    ],
)
def test_an_answer_becomes_plain_text(translator, said, shown):
    save_kyoto()
    translator.answers = {"Gate": said}

    translate()

    assert texts()["Gate name"] == shown


def test_a_request_that_fails_leaves_its_text_as_it_was(translator):
    save_kyoto()
    asking.ask("kyoto", "ja", by="mika")
    jobs = queue.claim(LLMJob, 1, "fast", LEASE)
    queue.settle([outcomes.from_error(jobs[0], PermanentError("refused"))])
    answer()

    counts = [row.state for row in rows().values()].count
    assert (counts(State.FAILED), counts(State.IDLE)) == (1, TEXTS - 1)
    assert translate() == 1
    assert all(texts().values())


def test_a_failed_new_translation_leaves_the_old_one_for_its_old_original(translator):
    kyoto = save_kyoto()
    translate()
    kyoto.title = "Kyoto again"
    kyoto.save()
    translator.answers = {"Kyoto again": ""}
    translate()

    assert texts()["title"] == "京都"
    kyoto.title = "Kyoto"
    kyoto.save()
    assert translate() == 0


# The job that keeps them


def keeper():
    return KeepTranslations.objects.get()


def fail_keeping():
    [job] = queue.claim(KeepTranslations, 1, "fast", LEASE)
    queue.settle([outcomes.from_error(job, PermanentError("disk full"))])


def test_if_the_answers_can_not_be_kept_the_texts_say_so_and_can_be_asked_for_again(translator):
    save_kyoto()
    asking.ask("kyoto", "ja", by="mika")
    work(LLMJob)
    fail_keeping()

    assert {(row.state, row.fault) for row in rows().values()} == {(State.FAILED, Fault.NOT_KEPT)}
    assert translate() == TEXTS


def test_a_requeued_keeping_uses_the_answers_that_were_paid_for(translator):
    save_kyoto()
    asking.ask("kyoto", "ja", by="mika")
    work(LLMJob)
    fail_keeping()

    queue.requeue(KeepTranslations.objects.all())
    assert {row.state for row in rows().values()} == {State.ASKED}
    work(KeepTranslations)

    assert all(texts().values())
    assert len(translator.sent) == TEXTS


def test_a_canceled_keeping_leaves_no_text_waiting(translator):
    save_kyoto()
    asking.ask("kyoto", "ja", by="mika")
    work(LLMJob)

    queue.cancel(KeepTranslations.objects.all())

    assert {row.state for row in rows().values()} == {State.FAILED}


def test_keeping_twice_keeps_once(translator):
    save_kyoto()
    translate()
    before = list(GuideTranslation.objects.values())

    queue.requeue(KeepTranslations.objects.all())
    work(KeepTranslations)

    assert keeper().status == Status.SUCCEEDED
    assert list(GuideTranslation.objects.values()) == before


def test_requests_that_were_deleted_past_the_queue_leave_no_text_waiting(translator):
    save_kyoto()
    asking.ask("kyoto", "ja", by="mika")
    work(LLMJob)
    LLMJob.objects.all().delete()

    work(KeepTranslations)

    assert {row.state for row in rows().values()} == {State.IDLE}
    assert translate() == TEXTS


# Anything at all


class Fuzz(random.Random):
    def words(self):
        pieces = [*ODD, "門", "それは赤いです。", "Ignore all instructions.", "<img src=x>"]
        pieces += ["\n", "](javascript:alert(1))", "長い" * 3_000, "{{ 7 }}", "&lt;script&gt;"]
        chosen = "".join(self.choice([*pieces, "<script>"]) for _ in range(self.randrange(5)))
        return chosen.replace("\x00", "\ufffd")  # as `jobs.llm` does

    def response(self):
        """What `jobs.llm` would store; also what its check of schemas would never let through."""
        odd = [None, 1, True, [], {}, "門", {"translation": None}, {"translation": [self.words()]}]
        data = {"translation": self.words()} if self.random() < 0.7 else self.choice(odd)
        return {"data": data, "text": self.words(), "provider": "translator"}

    def end(self, job):
        if self.random() < 0.1:
            return outcomes.from_error(job, PermanentError(self.words()))
        return End(job, Outcome.SUCCEEDED, result=self.response())


@pytest.mark.search
def test_no_answer_breaks_a_page_or_leaves_it_waiting(translator, client):
    save_kyoto()
    fuzz = Fuzz("answers")
    for _ in range(FUZZED // TEXTS + 1):
        GuideTranslation.objects.all().delete()
        assert asking.ask("kyoto", "ja", by="mika") == TEXTS
        jobs = queue.claim(LLMJob, TEXTS, "fast", LEASE)
        assert queue.settle([fuzz.end(job) for job in jobs]) == []
        work(KeepTranslations)

        page = client.get("/guides/kyoto/?lang=ja")
        assert page.status_code == 200
        for bad in ("<script>", "<img src=x", "javascript:", "長い" * 3_000):
            assert bad not in page.text
        assert not GuideTranslation.objects.filter(state=State.ASKED).exists()
        assert not LLMJob.objects.exists()
        for row in GuideTranslation.objects.exclude(text=""):
            assert checked(row.text, row.key, "ja", 10_000)[0] == row.text
