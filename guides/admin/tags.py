"""Tags as people type them: words with commas between them."""

import json
import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminTextInputWidget

from guides import validators
from guides.models import SpotDetail

COMMA = re.compile("[,，、]")


class TagsField(forms.Field):
    """A list of texts, typed as one line. A JSON list, as the API takes it, is read too."""

    widget = UnfoldAdminTextInputWidget

    def prepare_value(self, value: Any) -> Any:
        """What was typed stays as it was; a list of words becomes a line, anything else JSON."""
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, list) and all(_is_word(tag) for tag in value):
            return ", ".join(value)
        return json.dumps(value, ensure_ascii=False)

    def to_python(self, value: Any) -> list[str]:
        typed = (value or "").strip()
        if typed[:1] in ("[", "{", '"'):
            return self._from_json(typed)
        return validators.tidy_tags(COMMA.split(typed))

    def _from_json(self, typed: str) -> list[str]:
        try:
            return validators.tidy_tags(json.loads(typed))
        except (ValueError, RecursionError):
            raise ValidationError(_("Write tags as words with commas between them.")) from None

    def has_changed(self, initial: Any, data: Any) -> bool:
        try:
            return self.to_python(data) != validators.tidy_tags(initial)
        except ValidationError:
            return True


def _is_word(tag: Any) -> bool:
    """Whether a tag can stand between commas; other programs may store one that is no text."""
    return isinstance(tag, str) and not COMMA.search(tag)


class SpotForm(forms.ModelForm):
    topic_tags = TagsField(
        label=_("tags"), required=False, help_text=_("words with commas between them")
    )

    class Meta:
        model = SpotDetail
        fields = ["position", "spot_name", "description", "topic_tags"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Name each field for screen readers: the table has its names in the head only."""
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.widget.attrs["aria-label"] = str(field.label)

    def clean_topic_tags(self) -> list[str]:
        tags: list[str] = self.cleaned_data["topic_tags"]
        if "topic_tags" in self.changed_data:  # saved tags may be older than the limit
            validators.limit_tags(tags)
        return tags
