"""/guides/new/: staff enter a guide, and no input is lost."""

import re
import time
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.test import Client
from django.utils.html import escape

from guides.forms import read_line
from guides.models import Guide, SpotDetail, SpotImageJob
from jobs.models import Provider
from jobs.paid import limits
from tests.guides import making
from tests.guides.lines import LINES
from tests.guides.making import author, saved, type_in

pytestmark = pytest.mark.django_db
staff = making.staff


@pytest.fixture
def paid(settings):
    settings.IMAGE_PROVIDER, settings.GEMINI_MODEL = "gemini", "sketch"
    return limits.find("gemini:sketch")


def test_strangers_are_asked_to_sign_in(client):
    for answer in (client.get("/guides/new/"), type_in(client)):
        assert answer.status_code == 302
        assert answer.headers["Location"] == "/admin/login/?next=/guides/new/"
    assert not Guide.objects.exists()


def test_who_is_signed_in_but_not_staff_makes_nothing(client):
    client.force_login(User.objects.create_user("visitor"))

    assert type_in(client).status_code == 302
    assert not Guide.objects.exists()


def test_staff_who_may_not_add_guides_are_told_so(client):
    client.force_login(User.objects.create_user("reader", is_staff=True))

    for answer in (client.get("/guides/new/"), type_in(client)):
        assert answer.status_code == 403
        assert "This gate is closed" in answer.content.decode()
    assert not Guide.objects.exists()


def test_staff_see_an_empty_form_that_nobody_keeps(staff):
    page = staff.get("/guides/new/")

    assert page.status_code == 200
    assert "no-store" in page.headers["Cache-Control"]
    assert "csrfmiddlewaretoken" in page.content.decode()


def test_a_guide_is_saved_with_its_jobs_and_shown(staff):
    answer = type_in(staff, destination="Japan", summary="Gates.", picture_style="ink")

    guide = Guide.objects.get()
    assert answer.headers["Location"] == f"/guides/{guide.plan_id}/"
    assert (guide.title, guide.destination, guide.summary) == ("Kyoto", "Japan", "Gates.")
    assert guide.picture_style == "ink"
    assert saved() == [("Gate", ""), ("Pond", "")]
    assert SpotImageJob.objects.filter(plan_id=guide.plan_id).count() == 2


@pytest.mark.parametrize(("line", "name", "description", "tags"), LINES)
def test_a_line_is_a_spot(line, name, description, tags):
    spot = read_line(line)

    assert (spot.name, spot.description, ", ".join(spot.tags)) == (name, description, tags)


@pytest.mark.parametrize("line", ["a" + " " * 40_000 + "b", "a" + " #a" * 15_000 + " b"])
def test_no_line_takes_long_to_read(line):
    before = time.process_time()  # of this process alone, however busy the machine is

    assert read_line(line).tags == []
    assert time.process_time() - before < 1


def test_spots_are_saved_with_their_tags(staff):
    type_in(staff, "Gate | Red. #shrine\nPond\tGold.\ttemple, Lake, lake , \nHill")

    tags = SpotDetail.objects.values_list("topic_tags", flat=True)
    assert list(tags) == [["shrine"], ["Lake", "lake", "temple"], []]


def test_empty_lines_are_no_spots(staff):
    type_in(staff, "\r\nGate\r\n\r\n  \r\nPond\r\n")

    assert [name for name, _ in saved()] == ["Gate", "Pond"]


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"title": ""}, "This field is required."),
        ({"title": "x" * 201}, "at most 200 characters"),
        ({"title": "a\x00b"}, "Null characters are not allowed."),
        ({"title": "a\x01b"}, "U+0001"),
        ({"summary": "x" * 2001}, "at most 2000 characters"),
        ({"spots": ""}, "This field is required."),
        ({"spots": " \n\t"}, "A guide needs at least one spot."),
        ({"spots": "Gate\nGate"}, "Line 2: There is a spot &#x27;Gate&#x27; already."),
        ({"spots": "Gate\n\n" + "x" * 201}, "Line 3: A name has at most 200 characters"),
        ({"spots": "Gate\n| no name"}, "Line 2: A spot needs a name."),
        ({"spots": "\n".join(map(str, range(501)))}, "At most 500 spots; these are 501."),
        ({"spots": "Gate\t\t" + ",".join("abcdefghijklmnopqrstu")}, "Line 1: At most 20 tags"),
        ({"spots": "Gate\t\ta\x01"}, "Line 1: It contains a character that can&#x27;t be shown"),
        ({"picture_style": "crayon"}, "crayon is not one of the available choices."),
    ],
)
def test_a_fault_is_said_and_nothing_typed_is_lost(staff, fields, fault):
    typed = {"title": "Kyoto", "destination": "<Japan>", "summary": "Ponds\n& gates", **fields}

    answer = type_in(staff, **{"spots": "Gate\n<Pond> | Gold", **typed})

    page = answer.content.decode()
    assert answer.status_code == 400
    assert fault in page
    assert 'role="alert"' in page
    for value in typed.values():
        assert escape(value).replace("\x00", "") in page.replace("\x00", "")
    assert not Guide.objects.exists()


def test_a_fault_belongs_to_its_field(staff):
    page = type_in(staff, title="").content.decode()

    assert page.count("aria-invalid") == 1
    assert 'aria-describedby="id_title-errors"' in page
    assert 'id="id_title-errors"' in page


def test_no_picture_is_called_being_painted_before_anybody_paints_it(staff):
    page = staff.get(type_in(staff).headers["Location"]).content.decode()

    assert page.count("On its way…") == 2


# Nothing is lost on the way


def test_five_hundred_long_spots_in_japanese_are_taken(staff):
    lines = [f"{n}｜{'金色の寺と広い池' * 87}" for n in range(500)]
    typed = urlencode({"title": "Kyoto", "spots": "\n".join(lines)})  # as browsers send it

    answer = staff.post("/guides/new/", typed, "application/x-www-form-urlencoded")

    assert answer.status_code == 302
    assert SpotDetail.objects.count() == 500


def test_a_page_that_was_open_for_too_long_leads_back():
    client = Client(enforce_csrf_checks=True)
    client.force_login(author())

    answer = type_in(client)

    page = answer.content.decode()
    assert answer.status_code == 403
    assert "This page was open for too long" in page
    assert 'href="/guides/new/"' in page


@pytest.mark.parametrize(
    ("fields", "first"),
    [
        ({"title": "", "spots": ""}, 'name="title"'),
        ({"summary": "x" * 2001}, 'name="summary"'),
        ({"spots": ""}, 'name="spots"'),
    ],
)
def test_the_first_fault_has_the_focus(staff, fields, first):
    page = type_in(staff, **{"spots": "Gate", **fields}).content.decode()

    assert [first in tag for tag in re.findall(r"<[^>]*\bautofocus\b[^>]*>", page)] == [True]


# What it costs


def test_what_is_painted_here_is_free(staff):
    assert "The pictures are free of charge." in staff.get("/guides/new/").content.decode()


def test_a_price_that_nobody_has_set_is_not_called_free(staff, paid):
    page = staff.get("/guides/new/").content.decode()

    assert "free of charge" not in page
    assert "unknown until the provider" in page


@pytest.mark.parametrize(
    ("price", "shown"),
    [("0.0395", "0.0395"), ("0.004", "0.004"), ("0.04", "0.04"), ("12", "12.00")],
)
def test_the_price_is_told_before_anything_is_saved(staff, paid, settings, price, shown):
    settings.CURRENCY = "EUR"
    Provider.objects.update(price=price)

    page = staff.get("/guides/new/").content.decode()

    assert f"Price of each picture: {shown} EUR" in page


def test_ten_spots_cost_a_fixed_number_of_queries(staff, django_assert_max_num_queries):
    ContentType.objects.get_for_model(Guide)  # Django asks for it once per process

    with django_assert_max_num_queries(20):
        type_in(staff, "\n".join(map(str, range(10))))


def test_no_guide_takes_the_address_of_this_page(staff):
    with pytest.raises(Exception, match="address of another page"):
        Guide.objects.create(plan_id="new", title="Kyoto")
