import pytest

from guides import services
from guides.models import Guide, SpotDetail


@pytest.fixture
def guide():
    return Guide.objects.create(plan_id="kyoto", title="Kyoto", destination="Japan")


@pytest.fixture
def spot(guide):
    return SpotDetail.objects.create(guide=guide, spot_name="Kinkaku-ji", topic_tags=["temple"])


def save_guide(*names, plan_id="kyoto"):
    guide = Guide(plan_id=plan_id, title="Kyoto", destination="Japan")
    return services.save_guide(guide, [SpotDetail(spot_name=name) for name in names])
