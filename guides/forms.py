"""A new guide as a person types it."""

import re
from functools import cached_property
from typing import Any, NamedTuple

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from guides import naming, strategies, styles, validators
from guides.models import Guide, SpotDetail, SpotImageJob
from guides.strategies import PictureStrategy
from jobs.models import Provider
from jobs.paid import limits
from jobs.paid.clients import services

LINES = re.compile(r"\r\n|\r|\n")
BARS = re.compile(r"[|｜]")
COMMAS = re.compile(r"[,，、]")
SPACES = re.compile(r"(\s+)")
# A whole word that begins with a letter, because "Platform #9" is a name.
HASHTAG = re.compile(r"[#＃][^\W\d_][^\s#＃]*")
# A list marker needs a space after it, because "9.11 Memorial" and "-196 Bar" are names.
# Japanese markers need none: no name begins with them. making.js has the same rule.
DIGIT, SPACE = "[0-9０-９]", r"[ \u00a0\u3000]"
BULLET = re.compile(
    rf"^(?:(?:[-*]|{DIGIT}{{1,3}}[.)]){SPACE}+"
    rf"|(?:[•・]|{DIGIT}{{1,3}}[．、）](?!{DIGIT})){SPACE}*)(?=\S)"
)


class PictureChoices(forms.Form):
    """How and when the pictures are made, and what one costs."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.offer_strategies()

    @cached_property
    def provider(self) -> Provider:
        return limits.find(SpotImageJob.provider_name())

    def offer_strategies(self) -> None:
        has_batches = services.has_batches(SpotImageJob.provider_name())
        offered = strategies.offered(self.provider) if has_batches else []
        if not offered:
            del self.fields["picture_strategy"]  # whatever an older page sends
            return
        field = self.fields["picture_strategy"]
        field.choices = offered  # type: ignore[attr-defined]
        field.initial = self.provider.strategy

    @property
    def strategies(self) -> list[dict[str, Any]]:
        """The ways to make the pictures, each with the price of one picture."""
        if "picture_strategy" not in self.fields:
            return []
        chosen = self["picture_strategy"].value() or self.provider.strategy
        return [
            {
                "value": value,
                "label": label,
                "is_chosen": value == chosen,
                "price": self.provider.cost(batch=value == PictureStrategy.BATCH),
            }
            for value, label in strategies.offered(self.provider)
        ]

    @property
    def first_fault(self) -> str:
        """The field to focus next; empty if nothing is wrong."""
        return next((name for name in self.fields if name in self.errors), "")


class NewGuideForm(PictureChoices):
    """The spots are one text, one line each: people type or paste it, making.js writes it."""

    title = forms.CharField(max_length=validators.LONGEST_TITLE)
    destination = forms.CharField(max_length=validators.LONGEST_TITLE, required=False)
    summary = forms.CharField(max_length=validators.LONGEST_SUMMARY, required=False)
    picture_style = forms.ChoiceField(choices=styles.offered, required=False)
    picture_strategy = forms.ChoiceField(required=False)
    # Not stripped: with a tab at its end, the whole line is the name.
    spots = forms.CharField(max_length=validators.MOST_BYTES, strip=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.spot_faults: list[tuple[int, str]] = []  # line number and fault

    def guide(self, draft: str) -> Guide:
        """The guide of this draft: a new one, or the one that the draft made before."""
        names = ("title", "destination", "summary", "picture_style", "picture_strategy")
        facts = {name: self.cleaned_data.get(name, "") for name in names}
        plan_id = naming.plan_id_for(draft, facts["title"], facts["destination"])
        return Guide(plan_id=plan_id, draft=draft, **facts)

    def clean_summary(self) -> str:
        summary: str = self.cleaned_data["summary"]
        validators.check_text(summary, validators.LONGEST_SUMMARY, lines=True)
        return summary

    def clean_title(self) -> str:
        title: str = self.cleaned_data["title"]
        validators.check_text(title, validators.LONGEST_TITLE)
        return title

    def clean_destination(self) -> str:
        destination: str = self.cleaned_data["destination"]
        validators.check_text(destination, validators.LONGEST_TITLE)
        return destination

    def clean_spots(self) -> list[SpotDetail]:
        lines = LINES.split(self.cleaned_data["spots"])
        typed = {n: read_line(line) for n, line in enumerate(lines, 1) if line.strip()}
        if not typed:
            raise ValidationError(_("A guide needs at least one spot."))
        if len(typed) > validators.MOST_SPOTS:
            raise ValidationError(
                _("At most %(most)d spots; these are %(count)d."),
                params={"count": len(typed), "most": validators.MOST_SPOTS},
            )
        seen = set[str]()
        for line, spot in typed.items():
            self.check_spot(line, spot, seen)
        if self.spot_faults:
            raise ValidationError(_("Some spots have errors."))
        return [
            SpotDetail(spot_name=spot.name, description=spot.description, topic_tags=spot.tags)
            for spot in typed.values()
        ]

    def check_spot(self, line: int, spot: "Typed", seen: set[str]) -> None:
        try:
            validators.validate_spot_name(spot.name)
            validators.check_text(spot.description, validators.LONGEST_DESCRIPTION)
            validators.limit_tags(validators.tidy_tags(spot.tags))
            if spot.name in seen:
                raise ValidationError(
                    _("There is a spot %(name)r already."), params={"name": spot.name}
                )
        except ValidationError as error:
            self.spot_faults.append((line, " ".join(error.messages)))
        seen.add(spot.name)


class Typed(NamedTuple):
    """A spot as a person typed it, on one line."""

    name: str
    description: str
    tags: list[str]


def read_line(line: str) -> Typed:
    """Split a line into name, description and tags, at tabs (as in a table) or at a bar.

    A line without a tab was written by hand or copied from a list, so it may begin with a bullet
    and end with hashtags.
    """
    if "\t" in line:
        name, description, *more = line.split("\t")
        tags = COMMAS.split(",".join(more))
    else:
        pieces = SPACES.split(BULLET.sub("", line.strip()))  # words, and the spaces between them
        end = len(pieces)
        while end > 1 and HASHTAG.fullmatch(pieces[end - 1]):
            end -= 2
        name, *rest = BARS.split("".join(pieces[:end]), maxsplit=1)
        description = "".join(rest)
        tags = [word[1:] for word in pieces[end + 1 :: 2]]
    tags = [tag.strip() for tag in tags if tag.strip()]
    return Typed(name.strip(), " ".join(description.split()), tags)
