"""A domain that asks for summaries: the example of docs/llm.md, as it is printed there."""

from django.db import models

from jobs import llm
from jobs.models import Job, uuid7


class Book(models.Model):
    title = models.TextField()


class Chapter(models.Model):
    book = models.ForeignKey(Book, on_delete=models.CASCADE)
    number = models.IntegerField()
    text = models.TextField()
    summary = models.TextField(default="")


class KeepSummaries(Job):
    """Follows the last answer, and moves all of them into the chapters."""

    book = models.ForeignKey(Book, on_delete=models.CASCADE)
    asked = models.UUIDField(unique=True)  # the process

    class Meta(Job.Meta):
        db_table = "keep_summaries"

    def perform(self, run):
        with llm.consume(self.asked) as answers:
            for answer in answers:
                if answer.response_json:
                    chapter = self.book.chapter_set.filter(number=answer.position)
                    chapter.update(summary=answer.response_json["text"])


def summarize(book):
    asked = uuid7()
    return llm.submit(
        [
            {"system": "Summarize this in one sentence.", "prompt": chapter.text, "max_tokens": 200}
            for chapter in book.chapter_set.order_by("number")
        ],
        label=f"Summaries of {book.title}",
        process_id=asked,
        then=KeepSummaries(book=book, asked=asked),
    )
