"""Two domains ask side by side. Neither knows of the other, and the queue knows of none."""

import json
from pathlib import Path

import pytest

from jobs import llm
from jobs.llm.models import LLMJob
from tests.config.printed import examples
from tests.jobs.conftest import make_due
from tests.jobs.llm.conftest import Quill, raw, work
from tests.testapp import summaries, terms

pytestmark = pytest.mark.usefixtures("quill")


@pytest.fixture(autouse=True)
def translator(monkeypatch):
    """Answers with a translation where a schema asks for data."""
    plain = Quill.write

    def write(self, request, timeout):
        if "schema" in request:
            self.reply = raw(json.dumps({"translation": request["prompt"][::-1]}))
        answer = plain(self, request, timeout)
        self.reply = None
        return answer

    monkeypatch.setattr(Quill, "write", write)


@pytest.fixture
def book():
    book = summaries.Book.objects.create(title="Birds")
    for number, text in enumerate(["Herons", "Cranes"]):
        book.chapter_set.create(number=number, text=text)
    return book


def summaries_of(book):
    return list(book.chapter_set.order_by("number").values_list("summary", flat=True))


def test_each_domain_gets_its_own_answers(book):
    of_book = summaries.summarize(book)
    of_terms = terms.translate(["tori", "tsuru", "sagi"])

    work()
    assert terms.collect(of_terms.id) == 3
    work(summaries.KeepSummaries)

    assert summaries_of(book) == ["You said: Herons", "You said: Cranes"]
    translated = dict(terms.Term.objects.values_list("word", "translation"))
    assert translated == {"tori": "irot", "tsuru": "urust", "sagi": "igas"}
    assert not LLMJob.objects.exists()
    assert llm.progress(of_book.id).percent == llm.progress(of_terms.id).percent == 100


def test_one_domain_that_fails_to_keep_its_answers_costs_the_other_nothing(book, monkeypatch):
    of_book = summaries.summarize(book)
    of_terms = terms.translate(["tori"])
    work()
    with monkeypatch.context() as patched:
        patched.setattr(summaries.Book, "chapter_set", None)
        work(summaries.KeepSummaries)

    assert terms.collect(of_terms.id) == 1

    assert {job.process_id for job in LLMJob.objects.all()} == {of_book.id}
    make_due(summaries.KeepSummaries.objects.get())
    work(summaries.KeepSummaries)
    assert summaries_of(book) == ["You said: Herons", "You said: Cranes"]


def test_a_book_that_is_gone_takes_its_follower_along_and_no_answer_fails(book, caplog):
    process = summaries.summarize(book)
    book.delete()

    work()

    process.refresh_from_db()
    assert (process.succeeded, process.percent) == (2, 100)
    assert process.follow_error


def test_the_example_of_the_docs_is_the_one_that_is_tested():
    [example] = examples("docs/llm.md")
    [_, code] = Path(summaries.__file__).read_text().split('"""\n\n', 1)

    assert example == code


def test_a_domain_that_can_not_save_submits_nothing():
    terms.Term.objects.create(word="tori")

    with pytest.raises(Exception, match=r"(?i)unique"):
        terms.translate(["tsuru", "tori"])

    assert not LLMJob.objects.exists()
