"""A guide from another system: checks everything in it."""

from collections.abc import Callable
from typing import Any, NamedTuple

from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.translation import gettext as _

from guides import languages, validators
from guides.bodies import Object, Reader, read_json
from guides.models import Guide, SpotDetail
from guides.replies import MOST_SHOWN
from guides.strategies import PictureStrategy
from guides.styles import PictureStyle
from guides.writing.asking import Wish
from guides.writing.models import (
    LONGEST_INTERESTS,
    MOST_DAYS,
    MOST_SPOTS,
    USUAL_DAYS,
    USUAL_SPOTS,
    WISHES,
    Tone,
)

GUIDE_FIELDS = {
    "plan_id",
    "title",
    "destination",
    "summary",
    "picture_style",
    "picture_strategy",
    "spots",
}
# A change of strategy may double the price, so leaving it out changes nothing.
KEPT = ["picture_strategy"]
WRITTEN_FIELDS = {"plan_id", "picture_style", "picture_strategy", "write"}
SPOT_FIELDS = {"name", "description", "tags"}
DEEPEST = 5  # a guide holds a list of spots that hold lists of tags


class Incoming(NamedTuple):
    """A guide and its spots, checked and not saved; or the wish that it be written."""

    guide: Guide
    spots: list[SpotDetail]
    keep: list[str]  # columns that a known guide keeps, because they were not sent
    wish: Wish | None = None


def read_guide(request: HttpRequest) -> Incoming:
    data = read_json(request, DEEPEST)
    if "write" in data:
        wishing = WishReader()
        guide, wish = wishing.guide_to_write(data), wishing.wish(data["write"])
        if wishing.faults:
            wishing.refuse()
        return Incoming(guide, [], [], wish)
    reader = GuideReader()
    guide, spots = reader.guide(data), reader.spots(data.get("spots"))
    if reader.faults:
        reader.refuse()
    return Incoming(guide, spots, [name for name in KEPT if name not in data])


class GuideReader(Reader):
    """Reads a guide from JSON."""

    def summary(self) -> str:
        return _("The guide has errors.")

    def guide(self, data: Object) -> Guide:
        self.know(data, GUIDE_FIELDS, "")
        return Guide(
            plan_id=self.text(data, "plan_id", 100, check=validators.validate_plan_id),
            title=self.text(data, "title", validators.LONGEST_TITLE, check=require),
            destination=self.text(data, "destination", validators.LONGEST_TITLE),
            summary=self.text(data, "summary", validators.LONGEST_SUMMARY, lines=True),
            picture_style=self.choice(data, "picture_style", PictureStyle.values),
            picture_strategy=self.choice(data, "picture_strategy", PictureStrategy.values),
        )

    def spots(self, data: Any) -> list[SpotDetail]:
        if not isinstance(data, list) or len(data) > validators.MOST_SPOTS:
            text = _("This must be a list of at most %(most)d spots.") % {
                "most": validators.MOST_SPOTS
            }
            self.fault("spots", data, text)
            return []
        spots = [self.spot(spot, f"spots[{n}]") for n, spot in enumerate(data)]
        seen = set[str]()
        for n, spot in enumerate(spots):
            if spot.spot_name and spot.spot_name in seen:
                self.fault(f"spots[{n}].name", spot.spot_name, _("Another spot has this name."))
            seen.add(spot.spot_name)
        return spots

    def spot(self, data: Any, path: str) -> SpotDetail:
        if not isinstance(data, Object):
            self.fault(path, data, _("A spot must be a JSON object."))
            return SpotDetail()
        self.know(data, SPOT_FIELDS, f"{path}.")
        name, longest = validators.LONGEST_SPOT_NAME, validators.LONGEST_DESCRIPTION
        return SpotDetail(
            spot_name=self.text(data, "name", name, path, check=validators.validate_spot_name),
            description=self.text(data, "description", longest, path, lines=True),
            topic_tags=self.tags(data.get("tags", []), f"{path}.tags"),
        )

    def choice(self, data: Object, name: str, values: list[str]) -> str:
        value = self.text(data, name, validators.LONGEST_TITLE)
        if value not in values:
            known = ", ".join(filter(None, values))
            self.fault(name, value, _("Use one of %(known)s, or leave it out.") % {"known": known})
        return value

    def tags(self, data: Any, path: str) -> list[str]:
        try:
            tags = validators.tidy_tags(data)
            validators.limit_tags(tags)
        except ValidationError as error:
            self.fault(path, data, " ".join(error.messages))
            return []
        return tags

    def text(
        self,
        data: dict[str, Any],
        name: str,
        most: int,
        path: str = "",
        *,
        lines: bool = False,
        check: Callable[[str], None] | None = None,
    ) -> str:
        value = data.get(name, "")
        path = f"{path}.{name}" if path else name
        if not isinstance(value, str):
            self.fault(path, value, _("This must be a text."))
            return ""
        try:
            validators.check_text(value, most, lines=lines)
            if check:
                check(value)
        except ValidationError as error:
            self.fault(path, value, " ".join(error.messages))
        return value.strip()


class WishReader(GuideReader):
    """Reads a wish: what the guide is about that a model will write."""

    def guide_to_write(self, data: Object) -> Guide:
        self.know_doubled(data, "")
        for name in sorted(data.keys() - WRITTEN_FIELDS):
            is_told = name in GUIDE_FIELDS
            told = _("With “write”, leave this out: a model writes it.")
            known = ", ".join(sorted(WRITTEN_FIELDS))
            unknown = _("Unknown field. The fields are %(known)s.") % {"known": known}
            self.fault(name[:MOST_SHOWN], data[name], told if is_told else unknown)
        return Guide(
            plan_id=self.text(data, "plan_id", 100, check=validators.validate_plan_id),
            picture_style=self.choice(data, "picture_style", PictureStyle.values),
            picture_strategy=self.choice(data, "picture_strategy", PictureStrategy.values),
        )

    def wish(self, data: Any) -> Wish:
        if not isinstance(data, Object):
            self.fault("write", data, _("This must be a JSON object."))
            return Wish("", "")
        self.know(data, set(WISHES), "write.")
        place = self.text(data, "destination", validators.LONGEST_TITLE, "write", check=require)
        return Wish(
            destination=place,
            language=self.one_of(data, "language", languages.codes(), languages.guess(place)),
            days=self.number(data, "days", MOST_DAYS, USUAL_DAYS),
            spots=self.number(data, "spots", MOST_SPOTS, USUAL_SPOTS),
            interests=self.text(data, "interests", LONGEST_INTERESTS, "write", lines=True),
            tone=self.one_of(data, "tone", Tone.values, Tone.CALM),
        )

    def number(self, data: Object, name: str, most: int, usual: int) -> int:
        value = data.get(name, usual)
        if type(value) is not int or not 1 <= value <= most:
            text = _("This must be a number from 1 to %(most)d.") % {"most": most}
            self.fault(f"write.{name}", value, text)
            return usual
        return value

    def one_of(self, data: Object, name: str, values: list[str], usual: str) -> str:
        value = data.get(name, usual)
        if value not in values:
            text = _("Use one of %(known)s, or leave it out.") % {"known": ", ".join(values)}
            self.fault(f"write.{name}", value, text)
            return usual
        return str(value)


def require(value: str) -> None:
    if not value.strip():
        raise ValidationError(_("This is required."))
