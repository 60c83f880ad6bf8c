"""Guides in the language of their reader, text by text."""

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from types import SimpleNamespace
from typing import Any, TypeVar

from django.http import HttpRequest, HttpResponseBase
from django.utils import translation
from django.utils.translation import get_language, get_language_info, to_locale

from guides import languages
from guides.models import Guide, SpotDetail
from guides.translation import sheets
from guides.translation.models import GuideTranslation
from guides.translation.sheets import Line, Said, Sheet
from guides.translation.texts import DESCRIPTION, GUIDE_TEXTS, NAME, sources, spot_key

CHOICE = "lang"  # the parameter that chooses a language
LOCALES = {"en": "en_US", "ja": "ja_JP"}  # as Open Graph writes them
View = TypeVar("View", bound=Callable[..., HttpResponseBase])


def chosen(request: HttpRequest) -> str:
    """The language that the address asks for; empty: none that this site has."""
    code = request.GET.get(CHOICE, "")
    return code if code in languages.codes() else ""


def in_chosen_language(view: View) -> View:
    """Let ?lang= choose the language of the whole page."""

    @wraps(view)
    def answer(request: HttpRequest, *arguments: Any, **options: Any) -> HttpResponseBase:
        code = chosen(request)
        if not code:
            return view(request, *arguments, **options)
        with translation.override(code):
            response = view(request, *arguments, **options)
        response.headers.setdefault("Content-Language", code)
        return response

    return answer  # type: ignore[return-value]


class Reading:
    """A guide as the current reader gets it, and the languages it can be had in."""

    def __init__(self, guide: Guide, spots: Sequence[SpotDetail]) -> None:
        self.guide = guide
        self.sheets = sheets.of_guide(guide, spots)
        # Without a language, or in one that is none of the site's: the original.
        self.sheet = self.sheets.get(get_language() or "", self.sheets[guide.spoken])
        self.title = said(self.sheet, "title", str(guide))
        self.destination = said(self.sheet, "destination")
        self.summary = said(self.sheet, "summary")
        for spot in spots:
            tell(spot, self.sheet)

    @property
    def language(self) -> str:
        return self.sheet.language

    @property
    def original(self) -> str:
        """The language it was written in, if the reader gets another one."""
        return self.guide.spoken if self.sheet.is_translated else ""

    @property
    def offered(self) -> list[Sheet]:
        return [sheet for sheet in self.sheets.values() if sheet.is_offered]

    @property
    def others(self) -> list[dict[str, Any]]:
        """Further languages that it was translated into, by their own names."""
        return [
            {"code": sheet.language, "name": get_language_info(sheet.language)["name_local"]}
            for sheet in self.offered
            if sheet.language != self.language and not sheet.is_original
        ]

    @property
    def locale(self) -> str:
        return locale_of(self.language)

    @property
    def other_locales(self) -> list[str]:
        codes = [sheet.language for sheet in self.offered]
        return [locale_of(code) for code in codes if code != self.language]

    def address(self, request: HttpRequest) -> str:
        """The one address of what is shown, whatever else the reader's address says."""
        code = chosen(request)
        is_offered = code and self.sheets[code].is_offered
        path = self.guide.get_absolute_url()
        return f"{path}?{CHOICE}={code}" if is_offered else path


def said(sheet: Sheet, key: str, otherwise: str = "") -> Said:
    return sheet.said.get(key) or Said(otherwise, sheet.language)


def tell(spot: SpotDetail, sheet: Sheet) -> None:
    name = said(sheet, spot_key(spot, NAME), spot.spot_name)
    spot.said = SimpleNamespace(name=name, description=said(sheet, spot_key(spot, DESCRIPTION)))


def locale_of(code: str) -> str:
    return LOCALES.get(code, to_locale(code))


def tell_all(shown: Iterable[tuple[Guide, Sequence[SpotDetail]]]) -> dict[str, Sheet]:
    """The texts of many guides, and of these spots of each, with at most one query."""
    language = get_language() or ""
    found = {guide.pk: (guide, spots) for guide, spots in shown}
    foreign = [pk for pk, (guide, _spots) in found.items() if guide.spoken != language]
    known = current_rows(foreign, language, found)
    told = {}
    for pk, (guide, spots) in found.items():
        lines = [Line(each, known.get((pk, each.key))) for each in sources(guide, spots)]
        code = language if pk in foreign else guide.spoken
        told[pk] = Sheet(code, lines, is_original=pk not in foreign)
        for spot in spots:
            tell(spot, told[pk])
    return told


def current_rows(
    plan_ids: list[str], language: str, found: dict[str, tuple[Guide, Sequence[SpotDetail]]]
) -> dict[tuple[str, str], GuideTranslation]:
    if not plan_ids or language not in languages.codes():
        return {}
    spots = [spot for pk in plan_ids for spot in found[pk][1]]
    keys = [*GUIDE_TEXTS, *(spot_key(spot, kind) for spot in spots for kind in (NAME, DESCRIPTION))]
    rows = GuideTranslation.objects.filter(guide__in=plan_ids, language=language, key__in=keys)
    return {(row.guide_id, row.key): row for row in rows}
