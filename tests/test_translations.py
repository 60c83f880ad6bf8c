"""`make messages` collects the texts and compiles the catalogue; a person translates in between."""

import ast
import re
from pathlib import Path

import polib
import pytest
from django.utils.translation import gettext, override
from django.utils.translation.template import templatize

ROOT = Path(__file__).parents[1]
CATALOGUE = ROOT / "locale" / "ja" / "LC_MESSAGES" / "django.po"
# The functions that mark a text, and which of their arguments it is.
MARKS = {
    **dict.fromkeys(["_", "gettext", "gettext_lazy", "gettext_noop"], 0),
    **dict.fromkeys(["ngettext", "ngettext_lazy"], 0),
    **dict.fromkeys(["pgettext", "pgettext_lazy"], 1),
}
IN_TEMPLATE = re.compile(r"""(?:gettext|\b_)\(u?('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""")
PLACE = re.compile(r"%\(\w+\)[a-z]")


@pytest.fixture(scope="module")
def catalogue():
    return polib.pofile(str(CATALOGUE))


def texts_of_code(folder):
    for path in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Call(func=ast.Name(id=name), args=[*args]) if name in MARKS:
                    match args[MARKS[name] :]:
                        case [ast.Constant(value=str(text)), *_]:
                            yield text


def texts_of_templates():
    for folder in ("templates", "jobs/templates"):
        for path in (ROOT / folder).rglob("*.html"):
            yield from map(ast.literal_eval, IN_TEMPLATE.findall(templatize(path.read_text())))


def test_every_text_is_in_the_catalogue_and_nothing_else(catalogue):
    texts = set(texts_of_templates())
    for folder in ("config", "guides", "jobs"):
        texts.update(texts_of_code(folder))

    assert {entry.msgid for entry in catalogue} == texts


def test_every_text_is_translated(catalogue):
    assert [entry.msgid for entry in catalogue if entry.fuzzy or not entry.translated()] == []


def test_a_translation_keeps_every_place_for_a_value(catalogue):
    for entry in catalogue:
        translation = entry.msgstr or entry.msgstr_plural[0]
        assert set(PLACE.findall(translation)) == set(PLACE.findall(entry.msgid)), entry.msgid


def test_the_compiled_catalogue_says_the_same(catalogue):
    compiled = polib.mofile(str(CATALOGUE.with_suffix(".mo")))

    assert as_dictionary(compiled) == as_dictionary(catalogue)


def as_dictionary(catalogue):
    return {
        (entry.msgctxt, entry.msgid): entry.msgstr or entry.msgstr_plural for entry in catalogue
    }


def test_the_catalogue_is_in_use():
    with override("ja"):
        assert gettext("Where to next?") == "次は、どこへ行こう。"
