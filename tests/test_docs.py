import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]
LINK = re.compile(r"\]\(([^)\s]+)\)")
PATH = re.compile(r"`((?:jobs|guides|config|templates|tests|bench|docs)/[\w./-]*)`")
BLOCK = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
VARIABLE = re.compile(r"""env(?:\.\w+)?\(\s*"([A-Z0-9_]+)"|environ\.get\("([A-Z0-9_]+)""")


def prose(page):
    """The text of a page without its blocks of code."""
    return BLOCK.sub("", page.read_text())


def anchors(page):
    """The anchors of a page's headings, as GitHub makes them."""
    kept = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in HEADING.findall(prose(page)))
    return {heading.strip().replace(" ", "-") for heading in kept}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page):
    for link in LINK.findall(prose(page)):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


def test_every_page_of_docs_is_linked_from_the_readme():
    readme = (ROOT / "README.md").read_text()

    assert not [page.name for page in ROOT.glob("docs/*.md") if f"(docs/{page.name})" not in readme]


def test_the_readme_stays_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 180


@pytest.mark.parametrize("place", ["docs/settings.md", ".env.example"])
def test_every_variable_is_documented(place):
    settings = (ROOT / "config" / "settings.py").read_text()
    read = {first or second for first, second in VARIABLE.findall(settings)}
    text = (ROOT / place).read_text()

    assert len(read) > 20
    assert not [name for name in sorted(read) if not re.search(rf"\b{name}\b", text)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_path_that_is_named_exists(page):
    assert not [path for path in PATH.findall(prose(page)) if not (ROOT / path).exists()]
