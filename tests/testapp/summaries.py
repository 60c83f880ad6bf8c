"""A domain that asks for summaries; a job collects them when all have ended."""

from django.db import models

from jobs import llm
from jobs.models import Job, uuid7


class Book(models.Model):
    title = models.TextField()

    class Meta:
        db_table = "books"


class Summary(models.Model):
    book = models.ForeignKey(Book, on_delete=models.CASCADE)
    chapter = models.IntegerField()
    text = models.TextField()

    class Meta:
        db_table = "summaries"


class KeepSummaries(Job):
    """Moves the answers of one process into the table of summaries."""

    book = models.ForeignKey(Book, on_delete=models.CASCADE)
    asked = models.UUIDField(unique=True)  # the process

    class Meta(Job.Meta):
        db_table = "keep_summaries"

    def perform(self, run):
        with llm.consume(self.asked) as answers:
            Summary.objects.bulk_create(
                Summary(
                    book_id=self.book_id, chapter=answer.position, text=answer.response_json["text"]
                )
                for answer in answers
                if answer.response_json
            )


def summarize(book, chapters):
    asked = uuid7()
    prompts = [{"system": "Summarize.", "prompt": chapter} for chapter in chapters]
    keep = KeepSummaries(book=book, asked=asked)
    return llm.submit(prompts, label=f"Summaries of {book.title}", process_id=asked, then=keep)
