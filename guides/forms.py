"""A new guide as a person types it."""

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from guides import styles, validators
from guides.models import Guide, SpotDetail

LINES = re.compile(r"\r\n|\r|\n")
BARS = re.compile(r"[|｜]")
# A list marker needs a space after it, because "9.11 Memorial" and "-196 Bar" are names.
# Japanese markers need none: no name begins with them. making.js has the same rule.
DIGIT, SPACE = "[0-9０-９]", r"[ \u00a0\u3000]"
BULLET = re.compile(
    rf"^(?:(?:[-*]|{DIGIT}{{1,3}}[.)]){SPACE}+"
    rf"|(?:[•・]|{DIGIT}{{1,3}}[．、）](?!{DIGIT})){SPACE}*)(?=\S)"
)


class NewGuideForm(forms.Form):
    """The spots are one text, one line each: people type or paste it, making.js writes it."""

    title = forms.CharField(max_length=validators.LONGEST_TITLE)
    destination = forms.CharField(max_length=validators.LONGEST_TITLE, required=False)
    summary = forms.CharField(max_length=validators.LONGEST_SUMMARY, required=False)
    picture_style = forms.ChoiceField(choices=styles.offered, required=False)
    # Not stripped: with a tab at its end, the whole line is the name.
    spots = forms.CharField(max_length=validators.MOST_BYTES, strip=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.spot_faults: list[tuple[int, str]] = []  # line number and fault

    def guide(self, plan_id: str) -> Guide:
        facts = ("title", "destination", "summary", "picture_style")
        return Guide(plan_id=plan_id, **{name: self.cleaned_data[name] for name in facts})

    @property
    def first_fault(self) -> str:
        """The field to focus next; empty if nothing is wrong."""
        return next((name for name in self.fields if name in self.errors), "")

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
                _("These are %(count)d spots; %(most)d are the most."),
                params={"count": len(typed), "most": validators.MOST_SPOTS},
            )
        seen = set[str]()
        for line, (name, description) in typed.items():
            self.check_spot(line, name, description, seen)
        if self.spot_faults:
            raise ValidationError(_("Some spots have errors."))
        return [SpotDetail(spot_name=name, description=text) for name, text in typed.values()]

    def check_spot(self, line: int, name: str, description: str, seen: set[str]) -> None:
        try:
            validators.validate_spot_name(name)
            validators.check_text(description, validators.LONGEST_DESCRIPTION)
            if name in seen:
                raise ValidationError(_("There is a spot %(name)r already."), params={"name": name})
        except ValidationError as error:
            self.spot_faults.append((line, " ".join(error.messages)))
        seen.add(name)


def read_line(line: str) -> tuple[str, str]:
    """Split a line into name and description, at a tab (as in a table) or a bar.

    A line without a tab was written by hand or copied from a list, so it may begin with a bullet.
    """
    if "\t" in line:
        name, _tab, description = line.partition("\t")
    else:
        name, *rest = BARS.split(BULLET.sub("", line.strip()), maxsplit=1)
        description = "".join(rest)
    return name.strip(), " ".join(description.split())
