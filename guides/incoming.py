"""A guide from another system: checks everything in it."""

from collections.abc import Callable
from typing import Any, NamedTuple

from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.translation import gettext as _

from guides import validators
from guides.bodies import Object, Reader, read_json
from guides.models import Guide, SpotDetail
from guides.strategies import PictureStrategy
from guides.styles import PictureStyle

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
SPOT_FIELDS = {"name", "description", "tags"}
DEEPEST = 5  # a guide holds a list of spots that hold lists of tags


class Incoming(NamedTuple):
    """A guide and its spots, checked and not saved."""

    guide: Guide
    spots: list[SpotDetail]
    keep: list[str]  # columns that a known guide keeps, because they were not sent


def read_guide(request: HttpRequest) -> Incoming:
    data = read_json(request, DEEPEST)
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


def require(value: str) -> None:
    if not value.strip():
        raise ValidationError(_("This is required."))
