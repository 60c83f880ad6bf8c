import pytest
from django.contrib import admin
from unfold.admin import ModelAdmin


def test_every_page_has_the_theme_of_unfold():
    for page in admin.site._registry.values():
        assert isinstance(page, ModelAdmin)


@pytest.mark.parametrize(
    "page",
    [
        *("", "auth/user/", "auth/user/add/", "auth/group/add/"),
        *("guides/guide/", "guides/guide/add/", "guides/spotimagejob/", "guides/spotimage/"),
        *("jobs/attempt/", "jobs/worker/"),
    ],
)
@pytest.mark.parametrize("language", ["en", "ja"])
def test_an_operator_can_open(admin_client, page, language):
    answer = admin_client.get(f"/admin/{page}", headers={"Accept-Language": language})

    assert answer.status_code == 200
    assert "Tabie 旅絵" in answer.text
    assert f'lang="{language}"' in answer.text
