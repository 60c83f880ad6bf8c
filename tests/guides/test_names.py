"""What a spot or a guide may be called, and what is refused."""

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError

from guides import services
from guides.models import Guide, SpotDetail, SpotImageJob
from tests.guides.painting import paint

pytestmark = pytest.mark.django_db(transaction=True)


ODD = [
    "quotes \"'`",
    "../../etc/passwd",
    "🍣 emoji",
    "مرحبا",
    "<script>",
    "%s {0}",
    "a" * 200,
]


@pytest.mark.few(3)
@pytest.mark.parametrize("name", ODD)
def test_odd_names_are_accepted_and_painted(guide, name, pictures):
    SpotDetail.objects.create(guide=guide, spot_name=name)

    paint(name)

    assert SpotDetail.objects.get().picture_state == "ready"


REFUSED = {
    "": "needs a name",
    "  ": "needs a name",
    "a" * 10_000: "10000 char",
    "a\x00b": r"U\+0000",
}


@pytest.mark.parametrize(("name", "reason"), REFUSED.items(), ids=["empty", "blank", "long", "NUL"])
@pytest.mark.parametrize("way", ["save", "bulk_create", "save_guide"])
def test_impossible_names_are_refused_clearly(guide, name, reason, way):
    spot = SpotDetail(guide=guide, spot_name=name)
    ways = {
        "save": spot.save,
        "bulk_create": lambda: SpotDetail.objects.bulk_create([spot]),
        "save_guide": lambda: services.save_guide(guide, [spot]),
    }

    with pytest.raises(ValidationError, match=reason):
        ways[way]()

    assert not SpotDetail.objects.exists()
    assert not SpotImageJob.objects.exists()


@pytest.mark.parametrize("image_url", ["javascript:alert(1)", "//example.org/a", "a.jpg", "/a\n"])
@pytest.mark.parametrize("way", ["full_clean", "save", "bulk_create"])
def test_what_is_no_address_of_a_picture_is_refused_clearly(guide, image_url, way):
    spot = SpotDetail(guide=guide, spot_name="Gate", image_url=image_url)
    ways = {
        "full_clean": spot.full_clean,
        "save": spot.save,
        "bulk_create": lambda: SpotDetail.objects.bulk_create([spot]),
    }

    with pytest.raises(ValidationError, match="no address of a picture"):
        ways[way]()

    assert not SpotDetail.objects.exists()


def test_a_bad_address_that_is_there_already_hinders_nobody_and_is_painted_over(spot, pictures):
    SpotDetail.objects.update(image_url="javascript:alert(1)")
    spot = SpotDetail.objects.get()
    spot.description = "golden"

    spot.save()
    paint("Kinkaku-ji")

    assert SpotDetail.objects.get().picture_state == "ready"


@pytest.mark.parametrize("plan_id", ["", "a b", "a/b", "a" * 101, "旅", "a\n"])
def test_impossible_plan_ids_are_refused_clearly(plan_id):
    with pytest.raises(ValidationError, match="plan id"):
        Guide(plan_id=plan_id, title="x").save()


def test_the_database_refuses_an_impossible_plan_id_as_well():
    with pytest.raises(IntegrityError):
        Guide.objects.bulk_create([Guide(plan_id="a b", title="x")])


def test_generated_plan_ids_hold_128_bits():
    assert len(bytes.fromhex(Guide().plan_id)) == 16
    assert Guide().plan_id != Guide().plan_id


def test_tags_are_tidied(guide):
    tags = ["　temple ", "Ｔｅｍｐｌｅ", "temple", "", "庭"]
    SpotDetail.objects.create(guide=guide, spot_name="Gate", topic_tags=tags)

    assert SpotDetail.objects.get().topic_tags == ["Temple", "temple", "庭"]


def test_tags_that_are_no_list_are_refused(guide):
    with pytest.raises(ValidationError, match="list of texts"):
        SpotDetail(guide=guide, spot_name="Gate", topic_tags="temple").save()
