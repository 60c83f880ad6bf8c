import pytest

from guides import services
from guides.models import Guide, SpotDetail, SpotImageJob
from tests.guides.painting import paint
from tests.guides.statuses import ADDRESS


@pytest.fixture
def guide():
    return Guide.objects.create(plan_id="kyoto", title="Kyoto", destination="Japan")


@pytest.fixture
def spot(guide):
    return SpotDetail.objects.create(guide=guide, spot_name="Kinkaku-ji", topic_tags=["temple"])


@pytest.fixture
def painted(pictures):
    """A spot with two versions."""
    save_guide("Gate")
    paint("Gate")
    services.request_new_pictures(SpotImageJob.objects.all(), by="mika")
    paint("Gate")
    return SpotDetail.objects.get()


@pytest.fixture
def ask(client):
    def ask(**headers):
        return client.get(ADDRESS, headers=headers)

    return ask


@pytest.fixture
def opened(settings):
    """Open the API with a token."""
    settings.API_TOKEN = "a secret"


@pytest.fixture
def send(client, opened):
    def send(body, token="a secret"):
        headers = {"Authorization": f"Bearer {token}"}
        return client.post("/api/guides/", body, content_type="application/json", headers=headers)

    return send


def save_guide(*names, plan_id="kyoto"):
    guide = Guide(plan_id=plan_id, title="Kyoto", destination="Japan")
    return services.save_guide(guide, [SpotDetail(spot_name=name) for name in names])
