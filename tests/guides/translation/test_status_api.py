"""The status API tells the languages of a guide."""

import pytest

from guides.models import Guide, SpotDetail
from tests.guides.schema import API, faults
from tests.guides.translation.translating import TEXTS, save_kyoto, translate

pytestmark = pytest.mark.django_db(transaction=True)

ADDRESS = "/api/guides/kyoto/status/"


@pytest.fixture
def kyoto(translator):
    return save_kyoto()


def names(client, query=""):
    return [spot["name"] for spot in client.get(ADDRESS + query).json()["spots"]]


def languages(client):
    return {each["code"]: each for each in client.get(ADDRESS).json()["languages"]}


def test_it_tells_how_far_each_language_is(client, kyoto):
    assert client.get(ADDRESS).json()["languages"] == [
        {"code": "en", "original": True, "texts": TEXTS, "translated": TEXTS},
        {"code": "ja", "original": False, "texts": TEXTS, "translated": 0},
    ]
    translate()
    assert languages(client)["ja"]["translated"] == TEXTS
    Guide.objects.update(title="Kyoto again")
    assert languages(client)["ja"]["translated"] == TEXTS - 1


def test_names_are_translated_only_if_that_is_asked_for(client, kyoto):
    translate()

    assert names(client) == ["Gate", "Pond"]
    assert names(client, "?lang=ja") == ["門", "池"]
    assert names(client, "?lang=fr") == ["Gate", "Pond"]
    japanese = client.get(ADDRESS, headers={"Accept-Language": "ja"}).json()
    assert [spot["name"] for spot in japanese["spots"]] == ["Gate", "Pond"]
    SpotDetail.objects.filter(spot_name="Gate").update(spot_name="Wall")
    assert names(client, "?lang=ja") == ["Wall", "池"]


def test_another_language_is_another_answer(client, kyoto):
    before = client.get(ADDRESS).headers["ETag"]
    assert client.get(ADDRESS, headers={"If-None-Match": before}).status_code == 304
    translate()
    after = client.get(ADDRESS, headers={"If-None-Match": before})

    assert after.status_code == 200
    japanese = client.get(f"{ADDRESS}?lang=ja", headers={"If-None-Match": after.headers["ETag"]})
    assert japanese.status_code == 200
    again = {"If-None-Match": japanese.headers["ETag"]}
    assert client.get(f"{ADDRESS}?lang=ja", headers=again).status_code == 304


def test_the_answer_is_as_described(client, kyoto):
    translate()
    schema = API["components"]["schemas"]["Status"]

    assert faults(client.get(f"{ADDRESS}?lang=ja").json(), schema) == []
