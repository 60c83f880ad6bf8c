"""A guide to be written, as a person wishes for it."""

from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import get_language

from guides import languages, naming, styles, validators
from guides.forms import PictureChoices
from guides.models import Guide
from guides.writing import requests
from guides.writing.asking import Wish
from guides.writing.models import (
    LONGEST_INTERESTS,
    MOST_DAYS,
    MOST_SPOTS,
    USUAL_DAYS,
    USUAL_SPOTS,
    Tone,
)


class WriteForm(PictureChoices):
    destination = forms.CharField(max_length=validators.LONGEST_TITLE)
    days = forms.IntegerField(min_value=1, max_value=MOST_DAYS, initial=USUAL_DAYS)
    spots = forms.IntegerField(min_value=1, max_value=MOST_SPOTS, initial=USUAL_SPOTS)
    interests = forms.CharField(max_length=LONGEST_INTERESTS, required=False)
    language = forms.ChoiceField()
    tone = forms.ChoiceField(choices=Tone.choices, initial=Tone.CALM)
    picture_style = forms.ChoiceField(choices=styles.offered, required=False)
    picture_strategy = forms.ChoiceField(required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["language"]
        field.choices = languages.choices()[1:]  # type: ignore[attr-defined]
        field.initial = get_language() if get_language() in languages.codes() else None

    def clean_destination(self) -> str:
        destination: str = self.cleaned_data["destination"]
        validators.check_text(destination, validators.LONGEST_TITLE)
        return destination

    def clean_interests(self) -> str:
        interests: str = self.cleaned_data["interests"]
        validators.check_text(interests, LONGEST_INTERESTS, lines=True)
        return interests

    def wish(self) -> Wish:
        return Wish(**{name: self.cleaned_data[name] for name in Wish._fields})

    def guide(self, draft: str) -> Guide:
        """The guide of this draft: a new one, or the one that the draft made before."""
        names = ("picture_style", "picture_strategy")
        facts = {name: self.cleaned_data.get(name, "") for name in names}
        plan_id = naming.plan_id_for(draft, "", self.cleaned_data["destination"])
        return Guide(plan_id=plan_id, draft=draft, **facts)

    def number(self) -> int:
        """How many spots the form asks for, as far as that is known."""
        try:
            return min(max(int(self["spots"].value()), 1), MOST_SPOTS)
        except (TypeError, ValueError):
            return USUAL_SPOTS


def price_of_texts(number: int) -> tuple[Decimal | None, bool]:
    """The price of an outline and of this many texts, and whether they are free of charge."""
    outline, texts = requests.price_of_outline(), requests.price_of_texts(number)
    if outline.amount is None or texts.amount is None:
        return None, False
    return outline.amount + texts.amount, texts.is_free
