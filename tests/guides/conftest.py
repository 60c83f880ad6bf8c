import pytest
from django.core.files.storage import storages

from guides import services
from guides.models import Guide, SpotDetail


@pytest.fixture
def pictures(settings, tmp_path):
    """A place for pictures of this test alone."""
    folder = {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": tmp_path},
    }
    settings.STORAGES = {**settings.STORAGES, "pictures": folder}
    return storages["pictures"]


@pytest.fixture
def guide():
    return Guide.objects.create(plan_id="kyoto", title="Kyoto", destination="Japan")


@pytest.fixture
def spot(guide):
    return SpotDetail.objects.create(guide=guide, spot_name="Kinkaku-ji", topic_tags=["temple"])


def save_guide(*names, plan_id="kyoto"):
    guide = Guide(plan_id=plan_id, title="Kyoto", destination="Japan")
    return services.save_guide(guide, [SpotDetail(spot_name=name) for name in names])
