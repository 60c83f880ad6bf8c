"""/guides/new/: staff type a guide, and nothing typed is lost."""

import pytest
from django.contrib.auth.models import User
from django.utils.html import escape

from guides.models import Guide, SpotDetail, SpotImageJob
from jobs import providers
from jobs.models import Provider

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff(client):
    client.force_login(User.objects.create_user("author", is_staff=True))
    return client


def type_in(client, spots="Gate\nPond", **fields):
    return client.post("/guides/new/", {"title": "Kyoto", "spots": spots, **fields})


def saved():
    return list(SpotDetail.objects.values_list("spot_name", "description"))


def test_strangers_are_asked_to_sign_in(client):
    for answer in (client.get("/guides/new/"), type_in(client)):
        assert answer.status_code == 302
        assert answer.headers["Location"] == "/admin/login/?next=/guides/new/"
    assert not Guide.objects.exists()


def test_who_is_signed_in_but_not_staff_makes_nothing(client):
    client.force_login(User.objects.create_user("visitor"))

    assert type_in(client).status_code == 302
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


@pytest.mark.parametrize(
    ("line", "spot"),
    [
        ("Gate", ("Gate", "")),
        ("  Gate  ", ("Gate", "")),
        ("Gate | Red, | and tall.", ("Gate", "Red, | and tall.")),
        ("金閣寺｜金色の寺", ("金閣寺", "金色の寺")),
        ("Gate\tRed.", ("Gate", "Red.")),
        ("A|B\tRed.", ("A|B", "Red.")),
        ("1. Gate", ("Gate", "")),
        ("12) Gate", ("Gate", "")),
        ("- Gate", ("Gate", "")),
        ("・金閣寺", ("金閣寺", "")),
        ("2. Gate\t", ("2. Gate", "")),
        ("21 Club", ("21 Club", "")),
        ("-", ("-", "")),
    ],
)
def test_a_line_is_a_spot(staff, line, spot):
    type_in(staff, line)

    assert saved() == [spot]


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
        ({"spots": "Gate\n\n" + "x" * 201}, "Line 3: The name"),
        ({"spots": "Gate\n| no name"}, "Line 2: A spot needs a name."),
        ({"spots": "\n".join(map(str, range(501)))}, "These are 501 spots; 500 are the most."),
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


def test_the_price_is_told_before_anything_is_saved(staff):
    assert "free of charge" in staff.get("/guides/new/").content.decode()
    providers.find("painter")
    Provider.objects.update(price="0.0395")

    page = staff.get("/guides/new/").content.decode()

    assert 'data-price="0.0395"' in page
    assert "Price of each picture: 0.0395" in page


def test_ten_spots_cost_a_fixed_number_of_queries(staff, django_assert_max_num_queries):
    with django_assert_max_num_queries(12):
        type_in(staff, "\n".join(map(str, range(10))))


def test_no_guide_takes_the_address_of_this_page(staff):
    with pytest.raises(Exception, match="address of another page"):
        Guide.objects.create(plan_id="new", title="Kyoto")
