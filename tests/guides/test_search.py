"""Names are found by any part of them, in any case, and by an index."""

import re

import pytest
from django.db import connection
from django.urls import reverse

from guides import search
from guides.models import Guide, SpotDetail, SpotImageJob
from tests.guides.conftest import save_guide
from tests.guides.painting import paint_alike

pytestmark = pytest.mark.django_db

SHRINE = "Fushimi Inari Shrine"
LISTS = ["spotimagejob", "spotdetail"]


def found(client, model, term):
    page = client.get(reverse(f"admin:guides_{model}_changelist"), {"q": term})
    assert page.status_code == 200
    return [row.spot_name for row in page.context["cl"].result_list]


@pytest.mark.few(5)
@pytest.mark.parametrize("model", LISTS)
@pytest.mark.parametrize("term", ["inari", "INARI", "i Inari S", "fushimi", "shrine", "ne", "S"])
def test_a_spot_is_found_by_any_part_of_its_name_in_any_case(operator, model, term):
    save_guide(SHRINE, "Pond")

    assert found(operator, model, term) == [SHRINE]


@pytest.mark.parametrize("model", LISTS)
@pytest.mark.parametrize("term", ["厳", "神社", "厳島神社", "島神"])
def test_japanese_words_of_one_letter_are_found_too(operator, model, term):
    save_guide("厳島神社", "広場")

    assert found(operator, model, term) == ["厳島神社"]


@pytest.mark.few(6)
@pytest.mark.parametrize("model", [*LISTS, "spotimage", "guide"])
@pytest.mark.parametrize(
    ("term", "renews"), [("", True), ("s", False), (" %", False), ("ne", True), ("厳", True)]
)
def test_a_search_without_an_index_is_not_repeated_every_5_seconds(operator, model, term, renews):
    page = operator.get(reverse(f"admin:guides_{model}_changelist"), {"q": term}).text

    assert ("data-refresh" in page) == renews
    assert ("This list does not refresh itself" in page) == (not renews)


@pytest.mark.few(8)
@pytest.mark.parametrize("model", LISTS)
@pytest.mark.parametrize(
    "term",
    [
        "inaro",
        "%",
        "_",
        "100%",
        "\\",
        "' OR 1=1 --",
        "a'b\\c",
        "   ",
        "& | !",
        ":*",
        "x" * 5000,
        "\x00",
    ],
)
def test_nothing_in_a_search_is_more_than_text(operator, model, term):
    save_guide(SHRINE)

    # A term of nothing is no search.
    assert found(operator, model, term) == ([SHRINE] if not term.strip(" \x00") else [])


@pytest.mark.parametrize("name", ["100% \\ 'real'", "a_b & c | d", "x:*"])
def test_a_name_of_signs_is_found_by_them(operator, name):
    save_guide(name, "Pond")

    assert found(operator, "spotimagejob", name[1:]) == [name]
    assert found(operator, "spotdetail", name[-3:]) == [name]


def test_a_plan_id_finds_its_spots_and_versions(operator, pictures):
    guide = save_guide("Gate")
    paint_alike("Gate")
    versions = reverse("admin:guides_spotimage_changelist")

    assert found(operator, "spotdetail", guide.plan_id) == ["Gate"]
    for term, number in ((guide.plan_id, 1), ("ATE", 1), ("pond", 0)):
        page = operator.get(versions, {"q": term})
        assert len(page.context["cl"].result_list) == number


@pytest.mark.parametrize("term", ["kyo", "JAPAN", "two days", "in-two"])
def test_a_guide_is_found_by_its_title_and_destination(operator, term):
    Guide.objects.create(plan_id="a", title="Kyoto in-two days, two days", destination="Japan")
    Guide.objects.create(plan_id="b", title="Lisbon")

    page = operator.get(reverse("admin:guides_guide_changelist"), {"q": term})

    assert [guide.plan_id for guide in page.context["cl"].result_list] == ["a"]


@pytest.mark.postgres
@pytest.mark.parametrize("term", ["inari", "神社", "ne"])
@pytest.mark.parametrize(
    ("model", "plan", "columns", "index"),
    [
        (SpotImageJob, "plan_id", ["spot_name"], "spotimagejob_search"),
        (SpotDetail, "guide_id", ["spot_name"], "spot_search"),
        (Guide, "plan_id", ["title", "destination"], "guide_search"),
    ],
)
def test_the_search_uses_its_index(model, plan, columns, index, term):
    wanted = search.found(model, plan, term, *columns)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_indexscan = off")  # nor the whole of another index

    shown = model.objects.filter(wanted).order_by().explain()

    assert re.search(rf"Bitmap Index Scan on {index}\b", shown), shown
    [condition] = re.findall("Filter: (.*)", shown)
    assert "search_grams" not in condition  # not computed for the rows that the index finds


def test_the_list_of_versions_says_how_far_its_search_looks(operator):
    page = operator.get(reverse("admin:guides_spotimage_changelist")).text

    assert "newest 1,000 spots" in page
