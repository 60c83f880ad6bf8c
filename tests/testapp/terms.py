"""A domain that asks for translations of words, and looks for them by itself."""

from django.db import models, transaction

from jobs import llm

SCHEMA = {
    "type": "object",
    "properties": {"translation": {"type": "string"}},
    "required": ["translation"],
    "additionalProperties": False,
}


class Term(models.Model):
    word = models.TextField(unique=True)
    translation = models.TextField(default="")
    asked = models.UUIDField(null=True)  # the process

    class Meta:
        db_table = "terms"


@transaction.atomic
def translate(words):
    process = llm.submit([{"prompt": word, "schema": SCHEMA} for word in words], label="Terms")
    Term.objects.bulk_create(Term(word=word, asked=process.id) for word in words)
    return process


def collect(process_id):
    with llm.consume(process_id) as answers:
        for answer in answers:
            word = Term.objects.filter(word=answer.request_json["prompt"])
            word.update(translation=answer.response_json["data"]["translation"], asked=None)
        return len(answers)
