"""Time zones, from the tzdata package alone: the host's own files may be older, or missing."""

from functools import cache
from importlib import resources
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _


@cache
def known() -> frozenset[str]:
    """The names that tzdata has, e.g. "Asia/Tokyo"."""
    names = resources.files("tzdata").joinpath("zones").read_text(encoding="utf-8").split()
    return frozenset(names)


def load(name: str) -> ZoneInfo:
    """The zone of this name; raises ValueError if there is none."""
    if name not in known():
        text = _("“%(name)s” is not a time zone: write its IANA name, e.g. Europe/Berlin or UTC.")
        raise ValueError(text % {"name": name})
    return _load(name)


@cache
def _load(name: str) -> ZoneInfo:
    # Not ZoneInfo(name): it takes the host's file if there is one.
    with resources.files("tzdata.zoneinfo").joinpath(name).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)
