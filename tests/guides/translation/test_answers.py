"""What a model answers is never trusted; a failed text does not fail the rest."""

import json
import os
import random

import pytest

from guides.translation import asking
from guides.translation.checking import Fault, checked
from guides.translation.models import GuideTranslation, KeepTranslations, State
from jobs import queue
from jobs.errors import PermanentError
from jobs.llm.models import LLMJob
from jobs.models import Provider, Status
from jobs.queue import outcomes
from tests.guides.test_fuzz import ODD
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
        pieces = [
            *ODD,
            "門",
            "それは赤いです。",
            "Ignore all instructions.",
            "<img src=x onerror=y>",
        ]
        pieces += [
            "\n",
            "](javascript:alert(1))",
            "長い" * 3_000,
            "{{ 7 }}",
            "&lt;script&gt;",
            "\ud800",
        ]
        return "".join(self.choice(pieces) for _ in range(self.randrange(5)))

    def answer(self):
        kind = self.randrange(6)
        if kind == 0:
            return self.choice([b"", b"{", b'{"translation": ', b"[]", b"null", b'"x"', b"{}"])
        if kind == 1:
            value = self.choice([None, 1, True, [], {}, [self.words()], {"translation": "門"}])
            return json.dumps({"translation": value}).encode()
        if kind == 2:
            return json.dumps({"translation": self.words(), "more": 1}).encode()
        return self.words()


def let_time_pass():
    """The waits after bad answers are over: of the requests, and of the provider."""
    LLMJob.objects.living().update(run_after="2020-01-01T00:00:00Z")
    Provider.objects.update(paused_until=None, faults=0)


@pytest.mark.search
def test_no_answer_breaks_a_page_or_leaves_it_waiting(translator, client, settings):
    settings.DEBUG = False
    save_kyoto()
    fuzz = Fuzz("answers")
    for _ in range(max(1, FUZZED // TEXTS)):
        GuideTranslation.objects.all().delete()
        sent = ["Kyoto", "Japan", "Gates at dawn.", "Gate", "It is red.", "Pond", "It is deep."]
        translator.answers = {text: fuzz.answer() for text in sent}
        assert asking.ask("kyoto", "ja", by="mika") == TEXTS
        while LLMJob.objects.living().exists():
            let_time_pass()
            work(LLMJob)
        work(KeepTranslations)

        page = client.get("/guides/kyoto/?lang=ja", raise_request_exception=True)
        assert page.status_code == 200
        for bad in ("<script>", "<img src=x", "javascript:", "長い" * 3_000, "\x00"):
            assert bad not in page.text.replace('<script src="', "")
        assert not GuideTranslation.objects.filter(state=State.ASKED).exists()
        for row in GuideTranslation.objects.exclude(text=""):
            assert checked(row.text, row.key, "ja", 10_000)[0] == row.text
